import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { listen } from '../../support/servers/http-servers.ts';
import {
  type RunningService,
  startAgent,
  startService,
  until,
  untilResults,
} from '../../support/service/deployment.ts';

/** Requests in the order of their arrival. */
async function startTarget(): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { authorization = '', 'x-own': own = '' } = request.headers;
    seen.push(`${authorization} ${own}`);
    response.end(`you said ${authorization} ${own}`);
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, seen };
}

async function results(service: RunningService, checkId: string, count: number): Promise<string> {
  const query = '?resultType=FINAL';
  const { text } = await untilResults(service.ask, checkId, { count, query });
  return text;
}

it('variables of the service fill the templates of checks and are never shown', async () => {
  const service = await startService();
  const { key, slug } = await service.addLocation('office');
  const [first, second, own] = [1, 2, 3].map(() => randomBytes(12).toString('base64'));
  const post = (value: unknown) => ({ method: 'POST', body: value });
  const variable = { key: 'TOKEN', value: first, secret: true };
  const made = await service.ask('/v1/variables', post(variable));
  expect(made.status, made.text).toBe(201);

  const target = await startTarget();
  const checkId = await service.addCheck('api', {
    name: 'templates',
    privateLocations: [slug],
    frequency: 60,
    retryStrategy: null,
    doubleCheck: false,
    variables: [{ key: 'OWN', value: own, secret: true }],
    request: {
      method: 'GET',
      url: `http://127.0.0.1:${target.port}/`,
      headers: [
        { key: 'authorization', value: 'Bearer {{TOKEN}}' },
        { key: 'x-own', value: '{{OWN}}' },
      ],
    },
  });
  const agent = await startAgent({ serviceUrl: service.url, key, dataDir: makeTestFolder() });
  const run = () => service.ask(`/v1/checks/${checkId}/run`, { method: 'POST', body: {} });
  await run();
  const outputs = [await results(service, checkId, 1)];
  expect(target.seen).toEqual([`Bearer ${first} ${own}`]);

  // The next runs use a new value, and the old one stays masked.
  const changed = await service.ask('/v1/variables/TOKEN', {
    method: 'PUT',
    body: { value: second },
  });
  expect(changed.status, changed.text).toBe(200);
  await until(
    async () => {
      const count = target.seen.length;
      await run();
      await results(service, checkId, count + 1);
      return target.seen.at(-1);
    },
    (last) => last === `Bearer ${second} ${own}`,
  );
  outputs.push(await results(service, checkId, target.seen.length));
  for (const path of ['/v1/variables', `/v1/checks/${checkId}`, '/v1/checks']) {
    outputs.push((await service.ask(path)).text);
  }
  await agent.kill('SIGTERM');
  await service.kill('SIGTERM');
  outputs.push(agent.log(), service.log());
  for (const secret of [first, second, own]) {
    expect(outputs.join('\n')).not.toContain(secret);
    expect(outputs.join('\n')).not.toContain(encodeURIComponent(String(secret)));
  }
  expect(outputs[0]).toContain('you said Bearer ******** ********');
});

it('a missing variable is named in the result and in the log', async () => {
  const service = await startService();
  const { key, slug } = await service.addLocation('office');
  const checkId = await service.addCheck('url', {
    name: 'missing',
    privateLocations: [slug],
    frequency: 60,
    retryStrategy: null,
    doubleCheck: false,
    request: { url: 'http://127.0.0.1:9/{{NOWHERE}}' },
  });
  const agent = await startAgent({ serviceUrl: service.url, key });
  await agent.logged(/NOWHERE/);
  await service.ask(`/v1/checks/${checkId}/run`, { method: 'POST', body: {} });
  const [result] = JSON.parse(await results(service, checkId, 1));
  expect(result).toMatchObject({
    hasFailures: true,
    hasErrors: false,
    apiCheckResult: {
      requestErrorCode: 'VARIABLE_UNKNOWN',
      requestError: expect.stringContaining('NOWHERE'),
    },
  });
});
