import { describe, expect, it, onTestFinished } from 'vitest';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import type { AgentSecrets } from '../../../../src/agent/secrets/agent-secrets.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { ClientCertificate } from '../../../../src/model/check/client-certificate.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';
import { operatorSecretsOf } from '../../../support/samples/secrets.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

const SECRET = 'Pl4nted/s3cret value';
/** The value in each form in which it is sent. */
const LEAK = /pl4nted|s3cret/i;
const ONCE = { retryStrategy: null, doubleCheck: false };

const api = (request: object, fields: CheckFields = {}): Check =>
  checkOf('API', { ...ONCE, ...fields, request });

interface Setting {
  readonly value?: string;
  readonly proxyUrl?: string;
  readonly clientCertificates?: readonly ClientCertificate[];
  /** Gets the names that are looked up. */
  readonly looked?: string[];
}

/** Runs a check where TOKEN is the agent's own variable, bound to the targets. */
async function run(
  check: Check,
  targets: readonly string[],
  { value = SECRET, proxyUrl, clientCertificates = [], looked = [] }: Setting = {},
): Promise<CheckResult> {
  const secrets: AgentSecrets = await operatorSecretsOf({ TOKEN: value }, targets);
  const resolver: RunnerParts['resolver'] = {
    resolve(hostname, family, options) {
      looked.push(hostname);
      return loopbackResolver.resolve(hostname, family, options);
    },
  };
  const fixture = runFixture({ clock: systemClock, parts: { secrets, resolver } });
  const http = httpRunner<'API'>({
    clientCertificates: () => clientCertificates,
    proxyUrl: () => proxyUrl ?? null,
  });
  const parts: Partial<RunnerParts> = {
    checkTypes: { ...fixture.parts.checkTypes, API: http },
  };
  Object.assign(fixture.parts, parts);
  await fixture.run(check);
  const [result] = fixture.results;
  if (result === undefined) throw new Error('there is no result');
  expect(JSON.stringify(result)).not.toMatch(LEAK);
  return result;
}

function errorOf({ apiCheckResult, tcpCheckResult }: CheckResult) {
  const detail = apiCheckResult ?? tcpCheckResult;
  return { code: detail?.requestErrorCode, message: detail?.requestError ?? '' };
}

const ok = () => rawServer(answering(response('200 OK', 'fine')));
const header = { key: 'x-plain', value: '{{TOKEN}}' };

describe('a variable of the agent that is bound to targets', () => {
  it('is sent to each of them', async () => {
    const server = await ok();
    const { port } = server;
    const request = { url: `http://shop.test:${port}/`, headers: [header] };
    for (const target of [`shop.test:${port}`, 'shop.test', '*.test']) {
      const targets = ['TOKEN@elsewhere.test', `TOKEN@${target}`];
      expect((await run(api(request), targets)).hasFailures).toBe(false);
    }
    expect(server.requests).toHaveLength(3);
    expect(server.requests[0]).toContain(`x-plain: ${SECRET}`);
  });

  it.each<[string, (origin: string) => object]>([
    ['url', (origin) => ({ url: `${origin}/?t={{TOKEN}}` })],
    ['header', (origin) => ({ url: origin, headers: [header] })],
    ['query parameter', (url) => ({ url, queryParameters: [{ key: 'q', value: '{{TOKEN}}' }] })],
    ['body', (url) => ({ url, method: 'POST', bodyType: 'RAW', body: '<{{TOKEN}}>' })],
    ['password', (url) => ({ url, basicAuth: { username: 'ann', password: '{{TOKEN}}' } })],
    ['userinfo', (url) => ({ url: url.replace('//', '//ann:{{TOKEN}}@') })],
  ])('is sent to no other target in the %s (trust model SN4)', async (_place, requestTo) => {
    const server = await ok();
    const result = await run(api(requestTo(`http://evil.test:${server.port}`)), [
      'TOKEN@shop.test',
      `TOKEN@evil.test:${server.port + 1}`,
    ]);
    expect(errorOf(result)).toEqual({
      code: 'VARIABLE_DENIED',
      message: `The variable TOKEN may not be sent to evil.test:${server.port}: VARIABLE_TARGETS of the agent allows other targets only`,
    });
    expect(result).toMatchObject({ hasFailures: true, hasErrors: false });
    expect(server.requests).toEqual([]);
  });

  it('goes to a token endpoint only if endpoint and target may have it (trust model SN4)', async () => {
    const server = await ok();
    const { port } = server;
    const client = {
      type: 'OAUTH2_CLIENT_CREDENTIALS',
      tokenUrl: `http://login.test:${port}/token`,
      clientId: 'monitor',
      clientSecret: 'another-s3cret-value',
    };
    const url = `http://shop.test:${port}/`;
    const own = api({ url, auth: { ...client, clientSecret: '{{TOKEN}}' } });
    const denied = async (targets: readonly string[]) => errorOf(await run(own, targets)).message;
    expect(await denied(['TOKEN@shop.test'])).toContain(`may not be sent to login.test:${port}`);
    // The target gets the token, which is as good as the secret.
    expect(await denied(['TOKEN@login.test'])).toContain(`may not be sent to shop.test:${port}`);
    expect(server.requests).toEqual([]);
    // The endpoint does not get the other parts of the request. It sends no token here.
    const request = { url, headers: [header], auth: client };
    expect(errorOf(await run(api(request), ['TOKEN@shop.test'])).code).toBe('TOKEN_REFUSED');
    expect(server.requests.join()).not.toContain(SECRET);
  });

  it('is sent to no other target over TCP (trust model SN4)', async () => {
    const server = await listenTcp((socket) => socket.end());
    onTestFinished(() => server.close());
    const request = { hostname: '127.0.0.1', port: server.port, data: 'AUTH {{TOKEN}}' };
    const check = checkOf('TCP', { ...ONCE, request });
    const denied = errorOf(await run(check, ['TOKEN@127.0.0.2', `TOKEN@127.0.0.1:1`]));
    expect(denied.code).toBe('VARIABLE_DENIED');
    expect(denied.message).toContain(`TOKEN may not be sent to 127.0.0.1:${server.port}`);
    expect(server.accepted).toBe(0);
    const sent = await run(check, [`TOKEN@127.0.0.1:${server.port}`]);
    expect(errorOf(sent).code).toBeNull();
  });

  it('fails a check that should fail, too', async () => {
    const check = api({ url: 'http://evil.test:1/', headers: [header] }, { shouldFail: true });
    expect(await run(check, ['TOKEN@shop.test'])).toMatchObject({ hasFailures: true });
  });

  it('is in no host name that is looked up, and in no message about it (trust model SN4)', async () => {
    const looked: string[] = [];
    const check = api({ url: 'http://{{{TOKEN}}}.evil.test:81/' });
    const result = await run(check, ['TOKEN@shop.test'], { value: 'Pl4nted-s3cret', looked });
    expect(looked).toEqual([]);
    const { code, message } = errorOf(result);
    expect(code).toBe('VARIABLE_DENIED');
    expect(message).toContain('port 81 of a host whose name contains a variable');
  });

  it.each([
    'http://shop.test@evil.test:PORT/',
    'http://shop.test:80@evil.test:PORT/',
    'http://evil.test:PORT\\@shop.test/',
    'http://evil.test:PORT/#@shop.test',
    'http://EVIL.test.:PORT/',
    'http://2130706433:PORT/',
  ])('is judged by the host that is connected to: %s', async (url) => {
    const server = await ok();
    const request = { url: url.replace('PORT', String(server.port)), headers: [header] };
    expect(errorOf(await run(api(request), ['TOKEN@shop.test'])).code).toBe('VARIABLE_DENIED');
    expect(server.requests).toEqual([]);
  });

  it('is judged by the host that other variables make', async () => {
    const server = await ok();
    const check = api(
      { url: 'http://{{{HOST}}}/', headers: [header] },
      { variables: [{ key: 'HOST', value: `evil.test:${server.port}` }] },
    );
    expect(errorOf(await run(check, ['TOKEN@shop.test'])).code).toBe('VARIABLE_DENIED');
  });

  it('is not sent behind the back of a shared address, to the host of a Host header', async () => {
    const server = await ok();
    const url = `http://shop.test:${server.port}/`;
    const withHost = (value: string) =>
      run(api({ url, headers: [header, { key: 'Host', value }] }), ['TOKEN@shop.test']);
    const { code, message } = errorOf(await withHost('evil.test'));
    expect(code).toBe('VARIABLE_DENIED');
    expect(message).toContain('evil.test');
    expect(server.requests).toEqual([]);
    expect((await withHost(`shop.test:${server.port}`)).hasFailures).toBe(false);
  });

  it('does not restrict a variable of the same name of the check itself', async () => {
    const server = await ok();
    const check = api(
      { url: `http://evil.test:${server.port}/`, headers: [header] },
      { variables: [{ key: 'TOKEN', value: 'its own' }] },
    );
    expect((await run(check, ['TOKEN@shop.test'])).hasFailures).toBe(false);
    expect(server.requests[0]).toContain('x-plain: its own');
  });

  it('that has no targets goes wherever a check sends it (trust model SC2)', async () => {
    const server = await ok();
    const check = api({ url: `http://evil.test:${server.port}/`, headers: [header] });
    expect((await run(check, [])).hasFailures).toBe(false);
    expect(server.requests[0]).toContain(`x-plain: ${SECRET}`);
  });
});

describe('a redirect of a request with a bound variable', () => {
  /** shop.test redirects to what `to` makes of the request line; evil.test answers. */
  async function redirecting(
    to: (evil: string, target: string) => string,
    status = '302 Found',
  ): Promise<{ shop: string; evil: { requests: readonly string[] } }> {
    const evil = await ok();
    const shop = await rawServer(async (peer) => {
      const [, target = ''] = (await peer.request()).split(' ');
      const location = to(`http://evil.test:${evil.port}`, target);
      await peer.send(response(status, 'moved', `Location: ${location}`));
    });
    return { shop: `http://shop.test:${shop.port}`, evil };
  }

  it.each<[string, string, (url: string) => object]>([
    ['a header', '302 Found', (url) => ({ url, headers: [header] })],
    [
      'the body',
      '307 Temporary Redirect',
      (url) => ({ url, method: 'POST', bodyType: 'RAW', body: 'a {{TOKEN}}' }),
    ],
  ])(
    'is not followed to another host with the value in %s (trust model SN5)',
    async (_place, status, requestTo) => {
      const { shop, evil } = await redirecting((origin) => `${origin}/next`, status);
      const { code, message } = errorOf(await run(api(requestTo(`${shop}/`)), ['TOKEN@shop.test']));
      expect(code).toBe('VARIABLE_DENIED');
      expect(message).toMatch(
        /the redirect to evil\.test:\d+ is not followed: it would carry the variable TOKEN, which VARIABLE_TARGETS of the agent allows for other targets only/,
      );
      expect(evil.requests).toEqual([]);
    },
  );

  it.each<[string, (origin: string, value: string) => string]>([
    ['as it came', (origin, value) => `${origin}/${value}`],
    ['decoded', (origin, value) => `${origin}/?t=${decodeURIComponent(value)}`],
    ['in base64', (origin, value) => `${origin}/?t=${base64(value)}`],
    ['in hex', (origin, value) => `${origin}/${Buffer.from(value).toString('hex')}`],
    ['in part', (origin, value) => `${origin}/${decodeURIComponent(value).slice(3, 12)}`],
  ])(
    'is not followed to another host whose address has the value %s (trust model SN5)',
    async (_form, to) => {
      const { shop, evil } = await redirecting((origin, target) => to(origin, target.slice(2)));
      const check = api({ url: `${shop}/?{{TOKEN}}` });
      expect(errorOf(await run(check, ['TOKEN@shop.test'])).code).toBe('VARIABLE_DENIED');
      expect(evil.requests).toEqual([]);
    },
  );

  it('is not followed to the same host at another port, if the variable is bound to one', async () => {
    const { shop, evil } = await redirecting((origin) => origin.replace('evil', 'shop'));
    const check = api({ url: `${shop}/`, headers: [header] });
    const { port } = new URL(shop);
    expect(errorOf(await run(check, [`TOKEN@shop.test:${port}`])).code).toBe('VARIABLE_DENIED');
    expect(evil.requests).toEqual([]);
  });

  it.each<[string, (url: string) => object]>([
    ['credentials stay behind', (url) => ({ url, headers: [{ ...header, key: 'x-api-key' }] })],
    [
      'the body stays behind',
      (url) => ({ url, method: 'POST', bodyType: 'RAW', body: '{{TOKEN}}' }),
    ],
    ['the query stays behind', (url) => ({ url: `${url}?t={{TOKEN}}` })],
  ])('is followed to another host where %s', async (_what, requestTo) => {
    const { shop, evil } = await redirecting((origin) => `${origin}/next`);
    const result = await run(api(requestTo(`${shop}/`)), ['TOKEN@shop.test']);
    expect(result.hasFailures).toBe(false);
    expect(evil.requests).toHaveLength(1);
    expect(evil.requests[0]).not.toMatch(LEAK);
  });

  it('is followed to another host that the variable is bound to as well', async () => {
    const { shop, evil } = await redirecting((origin) => `${origin}/next`);
    const check = api({ url: `${shop}/`, headers: [header] });
    const result = await run(check, ['TOKEN@shop.test', 'TOKEN@evil.test']);
    expect(result.hasFailures).toBe(false);
    expect(evil.requests[0]).toContain(SECRET);
  });
});

describe("a location's proxy and a bound variable", () => {
  it('gets none in an unencrypted request unless it is a target itself (trust model SN5)', async () => {
    const server = await ok();
    const proxy = await httpProxy();
    const check = api({ url: `http://shop.test:${server.port}/`, headers: [header] });
    const setting = { proxyUrl: proxy.url() };
    const denied = errorOf(await run(check, ['TOKEN@shop.test'], setting));
    expect(denied.code).toBe('VARIABLE_DENIED');
    expect(denied.message).toContain(`127.0.0.1:${proxy.port}`);
    expect(proxy.requests).toEqual([]);
    const targets = ['TOKEN@shop.test', `TOKEN@127.0.0.1:${proxy.port}`];
    expect((await run(check, targets, setting)).hasFailures).toBe(false);
  });

  it('only tunnels a request to a host whose certificate is verified (trust model SN5)', async () => {
    const proxy = await httpProxy();
    const codeWith = async (skipSSL: boolean) => {
      const request = { url: 'https://shop.test:1/', headers: [header], skipSSL };
      const result = await run(api(request), ['TOKEN@shop.test'], { proxyUrl: proxy.url() });
      return errorOf(result).code;
    };
    expect(await codeWith(true)).toBe('VARIABLE_DENIED');
    expect(proxy.requests).toEqual([]);
    expect(await codeWith(false)).not.toBe('VARIABLE_DENIED');
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: 'shop.test:1' }]);
  });

  it('gets none for a host whose certificate an authority of the service may have issued (trust model SN5)', async () => {
    const proxy = await httpProxy();
    const codeWith = async (host: string, authority: string | null) => {
      const check = api({ url: 'https://shop.test:1/', headers: [header] });
      const pair = { cert: 'PEM', key: 'PEM', passphrase: null };
      const clientCertificates = [{ ...pair, host, ca: authority }];
      const setting = { proxyUrl: proxy.url(), clientCertificates };
      return errorOf(await run(check, ['TOKEN@shop.test'], setting)).code;
    };
    // Whoever has the key of the authority and the proxy could read the tunnel.
    expect(await codeWith('shop.test', 'PEM')).toBe('VARIABLE_DENIED');
    expect(await codeWith('*.test', 'PEM')).toBe('VARIABLE_DENIED');
    expect(await codeWith('shop.test', null)).not.toBe('VARIABLE_DENIED');
    expect(await codeWith('other.test', 'PEM')).not.toBe('VARIABLE_DENIED');
  });
});

function base64(value: string): string {
  return Buffer.from(`user:${decodeURIComponent(value)}`).toString('base64');
}
