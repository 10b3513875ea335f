import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { MIN_PART_BYTES } from '../../../src/service/artifacts/port.ts';
import { cuttingRelay } from '../../support/cutting-relay.ts';
import {
  download,
  useArtifactServer,
  useParties,
} from '../../support/service-suites/artifact-service.ts';
import { uploadRig } from '../../support/upload-rig.ts';

const service = useParties(useArtifactServer('pglite'));

it('an artifact over a line that is cut arrives whole at the service, where the result says', async () => {
  const { mine, app } = service();
  const cuts = [0.5, 1.5, 0.3].map((parts) => Math.round(parts * MIN_PART_BYTES));
  const relay = await cuttingRelay(app.port);
  relay.cutAfter(cuts);
  const { outbox, spool, run, clock, waitMs, empty, records } = await uploadRig({
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
