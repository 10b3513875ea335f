import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { sequenceIdOf } from '../../src/model/ids.ts';
import { nextOwnSlotAfter } from '../../src/model/schedule/rotation.ts';
import { missedRecordOf } from '../../src/wire/v1/results.ts';
import { recordOf, uploadFixture } from '../support/agent/upload-fixture.ts';
import { startPreviousReleaseRelay } from '../support/previous-release/relay.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { wireResult } from '../support/samples/wire-results.ts';
import { listening } from '../support/servers/tcp-servers.ts';
import {
  type RunningService,
  startAgent,
  startService,
  until,
  untilResults,
} from '../support/service/deployment.ts';

/** Longer than the part of a body in a result: the rest becomes an artifact. */
const BODY = 'a body that does not fit. '.repeat(10_000);
/** For an agent that crashes at its first SIGTERM, and reports that. */
const CRASHES = {
  NODE_OPTIONS: `--import=${new URL('../support/process/faulty-stop.mjs', import.meta.url).href}`,
};
const INTERNAL = 70;
const MINUTE_MS = 60_000;
/** The unit of `frequencyOffset`. */
const OFFSET_MS = 6_000;

it('agent and service of this release each work with the other one of the previous release', async () => {
  const target = await listening(createServer((_, response) => response.writeHead(500).end(BODY)));
  onTestFinished(() => target.close());
  const service = await startService();
  const relay = await startPreviousReleaseRelay(service.url);
  onTestFinished(() => relay.close());
  const [here, there] = [await service.addLocation('here'), await service.addLocation('there')];
  const checkId = await service.addCheck('api', {
    name: 'Shop',
    frequency: 0,
    frequencyOffset: 10,
    privateLocations: ['here', 'there'],
    retryStrategy: { type: 'FIXED', baseBackoffSeconds: 0, maxRetries: 1, sameRegion: false },
    request: { url: `http://127.0.0.1:${target.port}/` },
  });
  const start = (key: string, env = {}) =>
    startAgent({ serviceUrl: relay.url, key, dataDir: makeTestFolder(), env });
  const [agent, crashing] = [await start(here.key), await start(there.key, CRASHES)];
  const ahead = await sendAhead({ service, relayUrl: relay.url, location: there });

  const { json: results } = await untilResults(service.ask, checkId, {
    count: 2,
    query: '?resultType=FINAL',
  });
  expect(results[0]).toMatchObject({ hasFailures: true, attempts: 1 });
  await until(
    () => service.ask(`/v1/check-results/${checkId}/${results[1].id}/artifacts`),
    ({ json }) => Array.isArray(json) && json.length > 0,
  );
  await until(
    () => service.ask(`/v1/check-statuses/${checkId}`),
    ({ json }) => json?.hasFailures === true,
  );
  await ahead.arrived();
  expect(await agent.kill('SIGTERM')).toBe(0);
  expect(await crashing.kill('SIGTERM')).toBe(INTERNAL);
  const errors = await service.ask(`/v1/private-locations/${there.id}/agent-errors`);
  expect(errors.json).toEqual([expect.objectContaining({ class: 'TypeError', count: 1 })]);
  expect(relay.faults).toEqual([]);
  for (const name of ['poll', 'results', 'handovers', 'artifacts', 'release', 'errors']) {
    expect(relay.relayed.get(name) ?? 0, name).toBeGreaterThan(0);
  }
});

/**
 * Uploads missed slots, and a result that is more than a minute ahead of the service's clock: the service
 * defers it, which an answer of the previous release cannot say. Resolves when it was deferred.
 */
async function sendAhead({
  service,
  relayUrl,
  location: { id: locationId, slug, key },
}: {
  readonly service: RunningService;
  readonly relayUrl: string;
  readonly location: { readonly id: string; readonly slug: string; readonly key: string };
}): Promise<{ arrived(): Promise<void> }> {
  // A slot in some seconds, and then every minute, so the next one is far away.
  const nextMs = Math.ceil((Date.now() + 15_000) / OFFSET_MS) * OFFSET_MS;
  // An offset is never 0.
  const soonMs = nextMs % MINUTE_MS === 0 ? nextMs + OFFSET_MS : nextMs;
  const rule = { periodMs: MINUTE_MS, phaseMs: soonMs % MINUTE_MS, stride: 1, index: 0 };
  const checkId = await service.addCheck('url', {
    name: 'Ahead',
    frequency: 1,
    frequencyOffset: rule.phaseMs / OFFSET_MS,
    privateLocations: [slug],
    request: { url: 'http://127.0.0.1:9/' },
  });
  await until(
    () => service.ask(`/v1/private-locations/${locationId}/agents`),
    ({ json }) => json[0]?.checks === 2,
  );

  const { spool, clock, client, run, records, empty } = await uploadFixture({
    serviceUrl: new URL(relayUrl),
    key,
  });
  // With some time for the upload itself.
  const slot = nextOwnSlotAfter(rule, Date.now() + MINUTE_MS + 5_000);
  const result = wireResult(sequenceIdOf(checkId, slug, slot), {
    checkId,
    runLocation: slug,
    checkRunId: slot,
  });
  const [first, last] = [slot - 3 * MINUTE_MS, slot - 2 * MINUTE_MS];
  const reason = 'agent_busy';
  const missed = missedRecordOf({ checkId, slot: first, lastSlot: last, count: 2, reason }, slug);
  spool.put({
    kind: 'missed',
    id: missed.id,
    atMs: Date.now(),
    body: Buffer.from(JSON.stringify(missed)),
  });
  spool.put(recordOf(result));
  await spool.committed();
  void run();
  const deferredOnes = async (): Promise<number> => {
    const { text } = await service.ask('/metrics', { key: null });
    return Number(/^vedette_service_records_deferred_total (\d+)$/m.exec(text)?.[1]);
  };
  await until(deferredOnes, (count) => count > 0);

  return {
    async arrived() {
      // The fixture's clock stands still: each wait of the uploader ends here.
      await until(
        async () => {
          const waitMs = clock.nextTimerInMs;
          if (!client.isAsking && waitMs !== null) await clock.advance(waitMs);
          return spool.depth.records;
        },
        (left) => left === 0,
      );
      await empty();
      // The agent found no record in the answer, and did not drop the result.
      const waits = records().filter(({ msg }) =>
        String(msg).includes('about none of the records'),
      );
      expect(waits.length).toBeGreaterThan(0);
      const stored = await service.ask(`/v1/check-results/${checkId}/${result.id}`);
      expect(stored.json).toMatchObject({ id: result.id, runLocation: slug });
      const listed = await service.ask(`/v1/missed-slots/${checkId}`);
      expect(listed.json).toContainEqual(
        expect.objectContaining({
          ...{ location: slug, count: 2, reason },
          slot: new Date(first).toISOString(),
          lastSlot: new Date(last).toISOString(),
        }),
      );
    },
  };
}
