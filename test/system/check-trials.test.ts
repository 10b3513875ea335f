import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { startPreviousReleaseRelay } from '../support/previous-release/relay.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { listening, listenTcp } from '../support/servers/tcp-servers.ts';
import {
  type RunningService,
  startAgent,
  startService,
  type TestLocation,
  until,
} from '../support/service/deployment.ts';
import type { Reply } from '../support/service/service-app.ts';

const SECRET = 'the-secret-of-the-trial-7319';

/** Starts a trial at the location as soon as one of its agents can make it. */
async function tryCheck(
  service: RunningService,
  { slug }: TestLocation,
  port: number,
): Promise<string> {
  const check = {
    checkType: 'API',
    name: 'Shop',
    privateLocations: [slug],
    variables: [{ key: 'TOKEN', value: SECRET, secret: true }],
    request: {
      url: `http://127.0.0.1:${port}/health`,
      method: 'GET',
      headers: [{ key: 'x-token', value: '{{TOKEN}}' }],
      assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
    },
  };
  const body = { location: slug, check };
  const made = await until(
    () => service.ask('/v1/check-trials', { method: 'POST', body }),
    ({ status }) => status === 201,
  );
  return made.json.id;
}

/** Follows the trial by the long wait until it is in one of the states. */
function follow(service: RunningService, id: string, ...states: readonly string[]): Promise<Reply> {
  return until(
    () => service.ask(`/v1/check-trials/${id}?waitSeconds=20`),
    ({ json }) => states.includes(json.state),
  );
}

it('an agent runs a check that is not saved once, and only its trial shows the result', async () => {
  const target = await listening(
    createServer(({ headers }, response) => {
      response.writeHead(503).end(`refused ${String(headers['x-token'])}`);
    }),
  );
  onTestFinished(() => target.close());
  const service = await startService();
  const location = await service.addLocation('office');
  const dataDir = makeTestFolder();
  const agent = await startAgent({ serviceUrl: service.url, key: location.key, dataDir });

  const id = await tryCheck(service, location, target.port);
  const { json } = await follow(service, id, 'finished');
  expect(json.result).toMatchObject({
    checkId: id,
    hasFailures: true,
    attempts: 0,
    runLocation: 'office',
    apiCheckResult: {
      response: { status: 503, body: 'refused ********' },
      assertions: [{ source: 'STATUS_CODE', actual: '503' }],
      jobAssets: [],
    },
  });
  expect(json.explanation).toMatchObject({ result: 'failed', lastPassing: null });
  expect(json.result.apiCheckResult.jobLog.length).toBeGreaterThan(1);
  expect(target.accepted).toBe(1);
  expect(JSON.stringify(json)).not.toContain(SECRET);
  expect((await service.ask('/v1/checks')).json).toEqual([]);
  expect((await service.ask('/v1/check-statuses')).json).toEqual([]);

  // A trial is neither in the spool nor a run of a check.
  const health = await agent.health();
  expect(health.json).toMatchObject({ spoolDepth: 0 });
  expect(await agent.kill('SIGTERM')).toBe(0);
  expect(agent.log() + service.log()).not.toContain(SECRET);
});

it('a trial expires with the reason when its agent is killed in the middle', async () => {
  const target = await listenTcp(() => {});
  onTestFinished(() => target.close());
  const service = await startService();
  const location = await service.addLocation('office');
  const agent = await startAgent({ serviceUrl: service.url, key: location.key });
  const id = await tryCheck(service, location, target.port);
  await follow(service, id, 'running');
  await until(
    async () => target.open,
    (open) => open === 1,
  );
  await agent.kill('SIGKILL');
  const { json } = await follow(service, id, 'expired');
  expect(json).toMatchObject({ reason: 'agent_lost', result: null, explanation: null });
  const refused = await until(
    () =>
      service.ask('/v1/check-trials', {
        method: 'POST',
        body: {
          location: 'office',
          check: {
            checkType: 'TCP',
            name: 'Shop',
            privateLocations: ['office'],
            request: { hostname: '127.0.0.1', port: target.port },
          },
        },
      }),
    ({ status }) => status === 409,
  );
  expect(refused.json.attributes).toEqual({ location: 'office', reason: 'no_agent' });
});

it('a location with agents of the previous release alone refuses trials, and says what to do', async () => {
  const service = await startService();
  const relay = await startPreviousReleaseRelay(service.url);
  onTestFinished(() => relay.close());
  const location = await service.addLocation('office');
  await startAgent({ serviceUrl: relay.url, key: location.key });
  await until(
    () => service.ask(`/v1/private-locations/${location.id}/agents`),
    ({ json }) => json[0]?.live === true,
  );
  const refused = await service.ask('/v1/check-trials', {
    method: 'POST',
    body: {
      location: 'office',
      check: {
        checkType: 'TCP',
        name: 'Shop',
        privateLocations: ['office'],
        request: { hostname: '127.0.0.1', port: 9 },
      },
    },
  });
  expect(refused.status).toBe(409);
  expect(refused.json.attributes).toEqual({ location: 'office', reason: 'old_agents' });
  expect(refused.json.message).toMatch(/earlier release.*upgrade/);
  expect(relay.faults).toEqual([]);
});
