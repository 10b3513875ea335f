import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { MIN_PART_BYTES } from '../../../../src/service/object-store/artifact-store.ts';
import { uploadFixture } from '../../../support/agent/upload-fixture.ts';
import { cuttingRelay } from '../../../support/servers/cutting-relay.ts';
import {
  download,
  useArtifactServer,
  useParties,
} from '../../../support/service/artifact-service.ts';

const service = useParties(useArtifactServer('pglite'));

it('an artifact arrives complete over an interrupted line, at the path in the result', async () => {
  const { mine, app } = service();
  const cuts = [0.5, 1.5, 0.3].map((parts) => Math.round(parts * MIN_PART_BYTES));
  const relay = await cuttingRelay(app.port);
  relay.cutAfter(cuts);
  const { outbox, spool, run, clock, waitMs, empty, records } = await uploadFixture({
    serviceUrl: new URL(relay.url),
    key: mine.agentKey,
  });
  const bytes = randomBytes(2 * MIN_PART_BYTES + 1000);
  const added = await outbox.add({
    resultId: 'result-1',
    checkId: mine.checkId,
    name: 'response-body',
    contentType: 'text/html; charset=utf-8',
    bytes,
  });
  if (!added.ok) throw new Error(added.note);
  await spool.committed();
  void run();
  for (const _cut of cuts) await clock.advance(await waitMs());
  await empty();
  const got = await download(app.port, added.asset, { key: mine.key });
  expect([got.status, got.body.equals(bytes)]).toEqual([200, true]);
  expect(relay.cuts).toBe(cuts.length);
  expect(records().map(({ level }) => level)).toEqual(['warn', 'info']);
});

it('an artifact for which the location has no room is dropped with the setting in the log, and the next one is sent', async () => {
  const { mine, withLimits } = service();
  const limits = { accountBytes: 2 ** 30, locationBytes: 100_000 };
  const { app } = await withLimits(limits);
  const { outbox, spool, run, empty, records, rejected, state } = await uploadFixture({
    serviceUrl: new URL(`http://127.0.0.1:${app.port}`),
    key: mine.agentKey,
  });
  const about = { resultId: 'result-1', checkId: mine.checkId, contentType: 'text/html' };
  const assets: string[] = [];
  for (const [name, length] of [
    ['too-long', 100_001],
    ['short', 1000],
  ] as const) {
    const added = await outbox.add({ ...about, name, bytes: randomBytes(length) });
    if (!added.ok) throw new Error(added.note);
    assets.push(added.asset);
  }
  await spool.committed();
  void run();
  await empty();
  expect([rejected, state.uploaded]).toEqual([[['artifact-note', 1]], 1]);
  const statuses = await Promise.all(assets.map(async (path) => (await mine.ask(path)).status));
  expect(statuses).toEqual([404, 200]);
  const [warning] = records().filter(({ level }) => level === 'warn');
  expect(warning?.problem).toContain('ARTIFACTS_MAX_GIB_PER_LOCATION');
});
