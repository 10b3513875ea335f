import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { MIN_PART_BYTES } from '../../../src/service/artifacts/port.ts';
import {
  download,
  useArtifactServer,
  useParties,
} from '../../support/service-suites/artifact-service.ts';
import { uploadRig } from '../../support/upload-rig.ts';

const service = useParties(useArtifactServer('pglite'));

/** Passes bytes on to the port, and resets each connection of the list after so many of them. */
async function cuttingRelay(port: number, cutsAfter: number[]): Promise<URL> {
  const server = createServer((agent) => {
    const limit = cutsAfter.shift() ?? Number.POSITIVE_INFINITY;
    const upstream = connect(port, '127.0.0.1');
    let passed = 0;
    agent.on('data', (chunk) => {
      passed += chunk.length;
      if (passed > limit) agent.resetAndDestroy();
    });
    agent.pipe(upstream).pipe(agent);
    for (const [one, other] of [
      [agent, upstream],
      [upstream, agent],
    ] as const) {
      one.on('error', () => {});
      one.once('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

it('an artifact over a line that is cut arrives whole at the service, where the result says', async () => {
  const { mine, app } = service();
  const cuts = [MIN_PART_BYTES / 2, MIN_PART_BYTES * 1.5, MIN_PART_BYTES / 3];
  const { outbox, spool, run, clock, waitMs, empty, records } = await uploadRig({
    serviceUrl: await cuttingRelay(app.port, [...cuts]),
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
  expect(records().map(({ level }) => level)).toEqual(['warn', 'info']);
});
