import { expect, test } from 'vitest';
import { FloodWatch } from '../../../../../src/agent/probes/http/flood-watch.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MIB = 1024 * 1024;

/** A connection after its handshake, and the reports of the watch. */
function watched() {
  const clock = new FakeClock();
  const wire = { bytesRead: 5000 };
  const floods: string[] = [];
  const watch = new FloodWatch(wire, clock, ({ code, what }) => floods.push(`${code} ${what}`));
  const take = (framingBytes: number, bodyBytes: number): void => {
    wire.bytesRead += framingBytes + bodyBytes;
    watch.body(bodyBytes);
    watch.read();
  };
  return { clock, wire, watch, take, floods };
}

test('framing without a body is accepted up to 2 MiB', () => {
  const { watch, take, floods } = watched();
  take(2 * MIB, 0);
  expect(floods).toEqual([]);
  take(1, 0);
  expect(floods).toEqual([
    'RESPONSE_FLOOD the response is almost only framing: 2097153 bytes beside 0 bytes of body',
  ]);
  watch.stop();
});

test('each byte of body allows 128 bytes of framing more, up to 16 MiB', () => {
  const { watch, take, floods } = watched();
  take(2 * MIB + 128 * 1000, 1000);
  expect(floods).toEqual([]);
  take(1, 0);
  expect(floods).toHaveLength(1);
  take(0, 25 * MIB);
  take(14 * MIB - 128_001, 0);
  expect(floods).toHaveLength(1);
  take(1, 0);
  expect(floods).toHaveLength(2);
  watch.stop();
});

test('500,000 reads are accepted, and one more is a flood', () => {
  const { watch, take, floods } = watched();
  for (let read = 0; read < 500_000; read += 1) take(10, 1);
  expect(floods).toEqual([]);
  take(10, 1);
  expect(floods).toEqual([
    'RESPONSE_FLOOD the response came in more than 500000 pieces, with 500001 bytes of body',
  ]);
  watch.stop();
});

test('bytes that raise no event are noticed within 100 ms, until the watch is stopped', async () => {
  const { clock, wire, watch, floods } = watched();
  wire.bytesRead += 2 * MIB;
  await clock.advance(1000);
  expect(floods).toEqual([]);
  wire.bytesRead += 1;
  await clock.advance(99);
  expect(floods).toEqual([]);
  await clock.advance(1);
  expect(floods).toHaveLength(1);
  watch.stop();
  await clock.advance(1000);
  expect(floods).toHaveLength(1);
  expect(clock.pendingTimers).toBe(0);
});
