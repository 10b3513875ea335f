import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { startPreviousReleaseRelay } from '../support/previous-release/relay.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { listening } from '../support/servers/tcp-servers.ts';
import { startAgent, startService, until, untilResults } from '../support/service/deployment.ts';

/** Longer than the part of a body in a result: the rest becomes an artifact. */
const BODY = 'a body that does not fit. '.repeat(10_000);

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
  const agents = [];
  for (const { key } of [here, there]) {
    agents.push(await startAgent({ serviceUrl: relay.url, key, dataDir: makeTestFolder() }));
  }

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
  for (const agent of agents) expect(await agent.kill('SIGTERM')).toBe(0);
  expect(relay.faults).toEqual([]);
  for (const name of ['poll', 'results', 'handovers', 'artifacts', 'release']) {
    expect(relay.relayed.get(name) ?? 0, name).toBeGreaterThan(0);
  }
});
