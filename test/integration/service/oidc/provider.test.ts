import { expect, it, onTestFinished } from 'vitest';
import { readProxies } from '../../../../src/runtime/net/proxy/proxy-variables.ts';
import { createProvider } from '../../../../src/service/oidc/provider.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';
import { CLIENT, startTestProvider } from '../../../support/users/oidc-provider.ts';

const REDIRECT = 'http://127.0.0.1:1/oidc/callback';

async function start(proxyUrl: string) {
  const there = await startTestProvider(() => REDIRECT);
  onTestFinished(() => there.close());
  const { log, records } = captureLog();
  const config = {
    ...CLIENT,
    issuer: there.issuer,
    groupsClaim: 'groups',
    scopes: 'openid email',
    groupRoles: [{ group: '*', role: 'read' }],
    accountId: null,
    sessionMaxMs: 3_600_000,
  } as const;
  const proxies = readProxies({ HTTP_PROXY: proxyUrl });
  const provider = createProvider(config, { clock: new FakeClock(), log, proxies });
  return { provider, issuer: there.issuer, logged: () => JSON.stringify(records()) };
}

it('asks the identity provider through the proxy', async () => {
  const proxy = await httpProxy();
  const { provider, issuer } = await start(proxy.url('ann:secret'));
  const { url } = await provider.begin(REDIRECT);
  expect(url.origin).toBe(issuer);
  expect(proxy.requests).toMatchObject([
    { method: 'GET', target: `${issuer}/.well-known/openid-configuration` },
  ]);
  expect(proxy.requests[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
});

it('logs that the proxy is away, without its credentials', async () => {
  const away = await refusingPort();
  onTestFinished(() => away.close());
  const { provider, logged } = await start(`http://ann:s3cret@127.0.0.1:${away.port}`);
  await expect(provider.begin(REDIRECT)).rejects.toMatchObject({ status: 503 });
  expect(logged()).toContain('no connection to the proxy of HTTP_PROXY');
  expect(logged()).not.toMatch(/s3cret|YW5u/);
});
