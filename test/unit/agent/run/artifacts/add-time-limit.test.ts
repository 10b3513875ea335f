import { expect, it } from 'vitest';
import { limitAddTime } from '../../../../../src/agent/run/artifacts/add-time-limit.ts';
import type { AddedArtifact } from '../../../../../src/agent/upload/artifact-outbox.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const ARTIFACT = {
  resultId: 'a-result',
  checkId: 'a-check',
  name: 'capture.pcap',
  contentType: 'application/vnd.tcpdump.pcap',
  bytes: Buffer.from('packets'),
};
const KEPT: AddedArtifact = { ok: true, asset: '/v1/artifacts/one' };

it('returns the answer of the outbox, and leaves no timer', async () => {
  const clock = new FakeClock();
  const taker = limitAddTime({ add: async () => KEPT }, clock);
  expect(await taker.add(ARTIFACT)).toEqual(KEPT);
  expect(clock.pendingTimers).toBe(0);
});

it('times out if the disk does not respond, and rejects artifacts until it does', async () => {
  const clock = new FakeClock();
  const asked: (() => void)[] = [];
  const add = (): Promise<AddedArtifact> =>
    new Promise((resolve) => {
      asked.push(() => resolve(KEPT));
    });
  const taker = limitAddTime({ add }, clock);
  const first = taker.add(ARTIFACT);
  await clock.advance(5000);
  const note =
    'The artifact capture.pcap is not in the result: DATA_DIR did not take it within 5 s';
  expect(await first).toEqual({ ok: false, note });
  expect(await taker.add(ARTIFACT)).toEqual({ ok: false, note });
  expect(asked).toHaveLength(1);

  asked[0]?.();
  await clock.advance(0);
  const second = taker.add(ARTIFACT);
  asked[1]?.();
  expect(await second).toEqual(KEPT);
  expect(clock.pendingTimers).toBe(0);
});
