import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { newDatabase } from '../../support/database/new-database.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { hookServer } from '../../support/servers/hook-server.ts';
import { startAgent, startService, until, untilResults } from '../../support/service/deployment.ts';

it('a location whose agents are killed is silent until one returns, and each is said once', async () => {
  const hook = await hookServer();
  const target = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  onTestFinished(() => void target.close());
  // With an embedded database a service may send webhooks to its own machine.
  const service = await startService(await newDatabase('pglite'));
  const { ask, url: serviceUrl } = service;
  const { id, slug, key } = await service.addLocation('cellar');
  const path = `/v1/private-locations/${id}`;
  const { json: channel } = await ask('/v1/alert-channels', {
    method: 'POST',
    // Killed agents may also miss slots.
    body: {
      type: 'WEBHOOK',
      config: { name: 'Hook', url: hook.url },
      sendMonitoringProblems: [],
    },
  });
  const { port } = target.address() as AddressInfo;
  const checkIds: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    checkIds.push(
      await service.addCheck('api', {
        name,
        frequency: 0,
        frequencyOffset: 10,
        privateLocations: [slug],
        request: { url: `http://127.0.0.1:${port}/` },
        alertChannelSubscriptions: [{ alertChannelId: channel.id, activated: true }],
      }),
    );
  }
  const [checkId = ''] = checkIds;
  const silentSince = async () => (await ask(path)).json.silentSince;
  const silentCount = async () => {
    const { text } = await ask('/metrics', { key: null });
    return /^vedette_service_locations_silent (\d+)$/m.exec(text)?.[1];
  };
  const missed = async () => (await ask(`/v1/missed-slots/${checkId}?limit=100`)).json;
  const status = async () => (await ask(`/v1/check-statuses/${checkId}`)).json;

  const dataDir = makeTestFolder();
  const agents = [
    await startAgent({ serviceUrl, key, dataDir }),
    await startAgent({ serviceUrl, key }),
  ];
  await untilResults(ask, checkId);
  expect(await silentSince()).toBeNull();
  expect(await status()).toMatchObject({ state: 'passing', unknownReason: null });
  for (const agent of agents) await agent.kill('SIGKILL');
  const killedMs = Date.now();

  const since = await until(silentSince, (instant) => instant !== null);
  expect(Date.parse(since)).toBeLessThanOrEqual(killedMs);
  await service.logged(/no agent of a private location polls any more/);
  await until(silentCount, (count) => count === '1');
  const ofSilence = ({ reason }: { reason: string }) => reason === 'location_silent';
  const ranges = await until(missed, (rows) => rows.some(ofSilence));
  expect(Date.parse(ranges.find(ofSilence).slot)).toBeGreaterThan(Date.parse(since));
  expect(await status()).toMatchObject({
    state: 'unknown',
    since,
    unknownReason: 'location_silent',
    hasFailures: false,
  });
  await until(
    async () => hook.requests.length,
    (count) => count === 1,
  );

  const back = await startAgent({ serviceUrl, key, dataDir });
  await until(silentSince, (instant) => instant === null);
  await until(silentCount, (count) => count === '0');
  await until(status, ({ state }) => state === 'passing');
  await until(
    async () => hook.requests.length,
    (count) => count === 2,
  );
  expect(await back.kill('SIGTERM')).toBe(0);
  const notices = hook.requests.map(({ body }) => JSON.parse(body));
  expect(notices).toMatchObject([
    { ALERT_TYPE: 'LOCATION_SILENT', RUN_LOCATION: slug, STARTED_AT: since },
    { ALERT_TYPE: 'LOCATION_RECOVERY', RUN_LOCATION: slug },
  ]);
  const lines = service
    .log()
    .match(/a private location polls any more|silent location poll again/g);
  expect(lines).toHaveLength(2);
});
