import { expect, it, onTestFinished } from 'vitest';
import { ApiClient } from '../../../src/cli/service-api/api-client.ts';
import { loadConnection } from '../../../src/cli/service-api/connection.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { VedetteError } from '../../../src/runtime/errors.ts';
import { runHere } from '../../support/agent/cli.ts';
import { httpProxy } from '../../support/servers/http-proxy.ts';
import { answering, rawServer, response } from '../../support/servers/http-servers.ts';

const KEY = `vk_${'0'.repeat(32)}`;
const { signal } = new AbortController();

function clientOf(env: Readonly<Record<string, string>>): ApiClient {
  const connection = loadConnection({ API_KEY: KEY, ...env });
  const client = new ApiClient({ ...connection, clock: systemClock, onWait: () => {} });
  onTestFinished(() => client.close());
  return client;
}

async function refusalOf(client: ApiClient): Promise<VedetteError> {
  const thrown = await client.send('POST', '/v1/checks', { signal }).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof VedetteError)) throw new Error('nothing was refused');
  return thrown;
}

it('goes to the service through the proxy of the environment, or past it by NO_PROXY', async () => {
  const service = await rawServer(
    answering(response('200 OK', '[]', 'Content-Type: application/json')),
  );
  const proxy = await httpProxy();
  const env = { SERVICE_URL: `http://localhost:${service.port}`, HTTP_PROXY: proxy.url() };
  expect(await clientOf(env).get('/v1/checks?page=2', signal)).toEqual([]);
  expect(proxy.requests).toMatchObject([
    { method: 'GET', target: `http://localhost:${service.port}/v1/checks?page=2` },
  ]);
  expect(await clientOf({ ...env, no_proxy: 'localhost' }).get('/v1/checks', signal)).toEqual([]);
  expect(proxy.requests).toHaveLength(1);
});

it('names the proxy that refuses the tunnel, and never its credentials', async () => {
  const proxy = await httpProxy({ authorization: 'Basic eDp5' });
  for (const scheme of ['http', 'https']) {
    const proxyUrl = proxy.url('ann:s3cret');
    const env = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
    const { code, message } = await refusalOf(
      clientOf({ ...env, SERVICE_URL: `${scheme}://service.test:1` }),
    );
    expect(code).toMatch(/^SERVICE_(UNREACHABLE|FAILED)$/);
    expect(message).toContain(`through the proxy http://127.0.0.1:${proxy.port}`);
    expect(message).toContain('rejected the user and password of HTTP');
    expect(message).not.toContain('s3cret');
  }
});

it('does not take a 403 of a proxy for a refusal of the key', async () => {
  const proxy = await rawServer(answering(response('403 Filtered', '<h1>no</h1>')));
  const env = { SERVICE_URL: 'http://service.test', HTTP_PROXY: proxy.url() };
  const { kind, message } = await refusalOf(clientOf(env));
  expect(kind).toBe('environment');
  expect(message).toContain(`an answer of the proxy http://127.0.0.1:${proxy.port}?`);
});

it('is in the help of commands without an agent as the proxy for a service', async () => {
  for (const command of ['apply', 'status', 'history', 'explain', 'trigger']) {
    const { stdout } = await runHere([command, '--help']);
    expect(stdout.replaceAll(/\s+/g, ' '), command).toContain('The proxy for a service by http. ');
    expect(stdout, command).not.toContain("agent's own");
  }
});
