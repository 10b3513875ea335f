import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { digestChallengeOf } from '../../../../../src/agent/probes/http/auth/digest-auth.ts';
import { OAuth2Auth } from '../../../../../src/agent/probes/http/auth/oauth2-auth.ts';
import { TokenCache } from '../../../../../src/agent/probes/http/auth/token-cache.ts';
import type { Check } from '../../../../../src/model/check/check.ts';
import type { LogEntry } from '../../../../../src/model/result/details/check-detail.ts';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { checkSignature } from '../../../../support/artifacts/s3-signature.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { agentSecretsOf } from '../../../../support/samples/secrets.ts';

const MASK = '********';
const PASSWORD = 'Pl4nted-pass-word';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(answer: Answer): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const api = (url: string, auth: object, more: object = {}, fields: object = {}): Check =>
  checkOf('API', { request: { url, auth, ...more }, retryStrategy: null, ...fields });

/** Runs checks with one agent, and expects no secret in their results. */
function agent(given: Parameters<typeof runFixture>[0]['parts'] = {}, clock = new FakeClock()) {
  const starting = agentSecretsOf().then((secrets) =>
    runFixture({ clock, parts: { secrets, ...given } }),
  );
  return {
    clock,
    async run(check: Check) {
      const fixture = await starting;
      await fixture.run(check);
      const all = JSON.stringify([fixture.results, fixture.logRecords()]);
      expect(all).not.toMatch(/Pl4nted/i);
      const result = fixture.results.at(-1);
      const http = result?.apiCheckResult;
      if (result === undefined || http === undefined) throw new Error('there is no result');
      return { ...http, hasFailures: result.hasFailures, responseTimeMs: result.responseTime };
    },
  };
}

const linesOf = ({ jobLog = [] }: { readonly jobLog?: readonly LogEntry[] }): string =>
  jobLog.map(({ msg }) => msg).join('\n');

describe('digest authentication', () => {
  const DIGEST = { type: 'DIGEST', username: 'monitor', password: PASSWORD };
  const CHALLENGE = 'Digest realm="r", nonce="n-1", qop="auth", algorithm=SHA-256';
  const sha256 = (part: string): string => createHash('sha256').update(part).digest('hex');

  /** By RFC 7616 3.4.1, apart from the code of the agent. */
  function isRight({ method, headers: { authorization = '' } }: IncomingMessage): boolean {
    const of = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(authorization)?.[1] ?? '';
    const user = sha256(`monitor:r:${PASSWORD}`);
    const asked = sha256(`${method}:${of('uri')}`);
    return of('response') === sha256(`${user}:n-1:${of('nc')}:${of('cnonce')}:auth:${asked}`);
  }

  it('answers the challenge of a 401, with the body again, and leaves that round out of the time', async () => {
    const clock = new FakeClock();
    const bodies: string[] = [];
    const url = await serving(async (request, response) => {
      bodies.push(await text(request));
      if (request.headers.authorization === undefined) {
        await clock.stall(5000);
        response.writeHead(401, { 'www-authenticate': CHALLENGE }).end('x'.repeat(1000));
      } else {
        const { authorization = '' } = request.headers;
        const [, hash] = /response="(\w+)"/.exec(authorization) ?? [];
        response.writeHead(isRight(request) ? 200 : 403).end(`${authorization} ${hash}`);
      }
    });
    const more = { method: 'POST', bodyType: 'RAW', body: 'data' };
    const check = api(`${url}/a?b=c`, DIGEST, more, { maxResponseTime: 1000 });
    const result = await agent({}, clock).run(check);
    expect(result).toMatchObject({ hasFailures: false, response: { status: 200 } });
    expect(result.responseTimeMs).toBeLessThan(1000);
    expect(bodies).toEqual(['data', 'data']);
    // The answer itself is masked where the target repeats it, and its hash also alone.
    expect(result.response?.body).toBe(`${MASK} ${MASK}`);
    expect(result.request?.headers.authorization).toBe(MASK);
    expect(linesOf(result)).toContain('sending the request again');
  });

  it('takes a second 401 as the response', async () => {
    const url = await serving((_request, response) =>
      response.writeHead(401, { 'www-authenticate': CHALLENGE }).end(),
    );
    const result = await agent().run(api(url, DIGEST));
    expect(result).toMatchObject({ hasFailures: true, response: { status: 401 } });
  });

  it('renews a nonce once for each request, also where each nonce is for one request', async () => {
    let issued = 0;
    const seen: string[] = [];
    const url = await serving(({ url: path, headers: { authorization = '' } }, response) => {
      seen.push(`${path} ${/nonce="(n-\d+)".*nc=(\d+)/.exec(authorization)?.slice(1) ?? 'none'}`);
      if (!authorization.includes(`"n-${issued}"`) || path === '/never') {
        issued += 1;
        const challenge = `Digest realm="r", nonce="n-${issued}", qop="auth", stale=TRUE`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
        return;
      }
      issued += 1;
      if (path === '/') response.writeHead(302, { location: '/next' }).end();
      else response.writeHead(302, { location: '/never' }).end();
    });
    const { response } = await agent().run(api(`${url}/`, DIGEST));
    expect(response).toMatchObject({ status: 401, url: `${url}/never` });
    const first = ['/ none', '/ n-1,00000001'];
    const next = ['/next n-1,00000002', '/next n-3,00000001'];
    const never = ['/never n-3,00000002', '/never n-5,00000001'];
    expect(seen).toEqual([...first, ...next, ...never]);
  });

  it('follows a redirect of its origin with credentials, and one to another without', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serving(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(401, { 'www-authenticate': CHALLENGE }).end();
    });
    const url = await serving((request, response) => {
      if (request.url === '/') return void response.writeHead(302, { location: '/next' }).end();
      if (!isRight(request)) {
        return void response.writeHead(401, { 'www-authenticate': CHALLENGE }).end();
      }
      response.writeHead(302, { location: `${other}/` }).end();
    });
    const result = await agent().run(api(`${url}/`, DIGEST));
    expect(result.response).toMatchObject({ status: 401, url: `${other}/` });
    expect(seen).toEqual([undefined]);
  });
});

describe('an AWS signature', () => {
  const AWS = {
    type: 'AWS_SIGV4',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: PASSWORD,
    sessionToken: 'Pl4nted-session',
    region: 'eu-central-1',
    service: 'execute-api',
  };

  it('goes with the request, not to another origin, and is masked where it comes back', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const other = await serving((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const url = await serving((request, response) => {
      const { authorization = '' } = request.headers;
      seen.push(request.headers);
      if (request.url === '/') response.writeHead(302, { location: other }).end();
      else response.end(authorization);
    });
    await agent().run(api(`${url}/`, AWS));
    expect(seen[0]).toMatchObject({ 'x-amz-security-token': 'Pl4nted-session' });
    expect(seen[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-c/);
    expect(Object.keys(seen[1] ?? {}).filter((name) => /amz|auth/.test(name))).toEqual([]);
    const { response } = await agent().run(api(`${url}/echo`, AWS));
    expect(response?.body).toMatch(/Signature=\*{8}$/);
  });

  it('is valid for S3 with any object key, also if the check sets a date', async () => {
    const key = { accessKeyId: AWS.accessKeyId, secretAccessKey: PASSWORD };
    const paths: string[] = [];
    const base = await serving((request, response) => {
      paths.push(request.url ?? '');
      checkSignature(request, new URL(request.url ?? '', 'http://s3.test'), key);
      response.end();
    });
    const auth = { ...AWS, service: 's3' };
    const headers = [{ key: 'X-Amz-Date', value: '20200101T000000Z' }];
    const url = `${base}/a%20b/(it's)!*,:@+$&=~?list=1`;
    const result = await agent({}, new FakeClock(Date.now())).run(api(url, auth, { headers }));
    expect(result).toMatchObject({ hasFailures: false, response: { status: 200 } });
    expect(paths).toEqual(['/a%20b/%28it%27s%29%21%2A%2C%3A%40%2B%24%26%3D~?list=1']);
    expect(Object.keys(result.request?.headers ?? {})).not.toContain('X-Amz-Date');
  });
});

describe('an access token of OAuth2', () => {
  /** A target and its authorization server. */
  async function platform({ lifetimeS = 3600 as number | undefined } = {}) {
    const state: {
      tokens: number;
      valid: string;
      readonly requests: string[];
      isDown: boolean;
      padding: string;
    } = { tokens: 0, valid: '', requests: [], isDown: false, padding: '' };
    const token = await serving(async (request, response) => {
      const { headers } = request;
      const body = String(await buffer(request));
      state.requests.push(`${headers.authorization ?? ''} ${body}`);
      response.setHeader('content-type', 'application/json');
      if (state.isDown) {
        const error = {
          error: 'invalid_client',
          error_description: `${state.padding}no ${PASSWORD}, ${headers.authorization}`,
        };
        return void response.writeHead(401).end(JSON.stringify(error));
      }
      state.tokens += 1;
      state.valid = `Pl4nted-token-${state.tokens}`;
      const expires = lifetimeS === undefined ? {} : { expires_in: lifetimeS };
      response.end(JSON.stringify({ access_token: state.valid, token_type: 'Bearer', ...expires }));
    });
    const target = await serving(({ headers }, response) => {
      const isValid = headers.authorization === `Bearer ${state.valid}`;
      response.writeHead(isValid ? 200 : 401).end(`got ${headers.authorization}`);
    });
    const auth = {
      type: 'OAUTH2_CLIENT_CREDENTIALS',
      tokenUrl: `${token}/token`,
      clientId: 'monitor',
      clientSecret: PASSWORD,
      scope: 'read write',
    };
    return { state, target, auth };
  }

  it('is requested once for all checks with the same settings, kept until it expires, and masked', async () => {
    const { state, target, auth } = await platform();
    const subject = agent();
    const [one, other] = await Promise.all([
      subject.run(api(target, auth)),
      subject.run(api(`${target}/b`, auth)),
    ]);
    expect([one.hasFailures, other.hasFailures]).toEqual([false, false]);
    expect(one.response?.body).toBe(`got Bearer ${MASK}`);
    expect(state.tokens).toBe(1);
    const [[, basic = '', body] = []] = state.requests.map((request) => request.split(' '));
    // RFC 6749 2.3.1: both are form-encoded first.
    const pair = Buffer.from(basic, 'base64').toString();
    expect(decodeURIComponent(pair)).toBe(`monitor:${PASSWORD}`);
    expect(body).toBe('scope=read+write&grant_type=client_credentials');
    await subject.clock.advance(3600_000);
    expect((await subject.run(api(target, auth))).hasFailures).toBe(false);
    expect(state.tokens).toBe(2);
  });

  it('is requested again once if the target refuses one that was kept', async () => {
    const { state, target, auth } = await platform();
    const subject = agent();
    await subject.run(api(target, auth));
    state.valid = 'revoked';
    const result = await subject.run(api(target, auth));
    expect(result).toMatchObject({ hasFailures: false, response: { status: 200 } });
    expect(state.tokens).toBe(2);
  });

  it('fails the check by its own code if there is none, also one that should fail', async () => {
    const { state, target, auth } = await platform();
    state.isDown = true;
    const result = await agent().run(api(target, auth, {}, { shouldFail: true }));
    expect(result).toMatchObject({
      hasFailures: true,
      response: null,
      requestErrorCode: 'TOKEN_REFUSED',
      requestError: `No access token was obtained, so the target was not asked: POST ${auth.tokenUrl}: it answered 401 with invalid_client: no ${MASK}, Basic ${MASK}`,
    });
    const closed = { ...auth, tokenUrl: 'http://127.0.0.1:1/token' };
    const unreached = await agent().run(api(target, closed, {}, { shouldFail: true }));
    expect(unreached.hasFailures).toBe(true);
    expect(unreached.requestErrorCode).toBe('TOKEN_ENDPOINT_UNAVAILABLE');
    expect(unreached.requestError).toMatch(
      /the target was not asked: CONNECT_REFUSED: 127\.0\.0\.1:1 refused/,
    );
  });

  it.each([429, 503])('fails as an outage of the endpoint if that answers %d', async (status) => {
    const tokenUrl = await serving((_request, response) => response.writeHead(status).end('busy'));
    const { target, auth } = await platform();
    const result = await agent().run(api(target, { ...auth, tokenUrl }));
    expect(result.requestErrorCode).toBe('TOKEN_ENDPOINT_UNAVAILABLE');
    expect(result.requestError).toContain(`it answered ${status}`);
  });

  it('leaves no part of the secret in a failure whose text is cut within it', async () => {
    const { state, target, auth } = await platform();
    state.isDown = true;
    state.padding = 'x'.repeat(150);
    const { requestError } = await agent().run(api(target, auth));
    expect(requestError).toMatch(/ invalid_client: x{150}no \*{8}/);
  });

  it('comes from no endpoint that TARGET_DENY denies', async () => {
    const { state, target, auth } = await platform();
    const guard = denyNetworks([{ text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 }]);
    const { requestError } = await agent({ guard }).run(api(target, auth));
    expect(requestError).toContain('ADDRESS_DENIED');
    expect(state.requests).toEqual([]);
  });

  describe('of a request that another run has begun', () => {
    /** A token endpoint that answers when the test wants it. */
    async function waiting() {
      const requests: ServerResponse[] = [];
      const arrivals = new EventEmitter();
      const tokenUrl = await serving((_request, response) => {
        requests.push(response);
        arrivals.emit('request');
      });
      const clock = new FakeClock();
      const client = { tokenUrl, clientId: 'monitor', clientSecret: PASSWORD, scope: '' };
      const way = { audience: '', clientAuthentication: 'BODY', skipSSL: false } as const;
      const settings = { ...client, ...way, ipFamily: 'IPv4' } as const;
      const parts = { tokens: new TokenCache(), clientCertificates: [], proxyUrl: null };
      const url = new URL('http://target.test/');
      const authorize = (options: { deadlineInMs: number; signal?: AbortSignal }) =>
        new OAuth2Auth(settings, parts).authorize(
          { method: 'GET', url, headers: [], body: null },
          makeContext({ clock, ...options }),
        );
      const arrived = () => once(arrivals, 'request');
      return { requests, clock, authorize, arrived };
    }

    it('is requested anew if that run had no time left', async () => {
      const { requests, clock, authorize, arrived } = await waiting();
      const [first] = [authorize({ deadlineInMs: 1000 }), await arrived()];
      const other = authorize({ deadlineInMs: 30_000 });
      const again = arrived();
      await clock.advance(1000);
      const failure = { code: 'TOKEN_ENDPOINT_UNAVAILABLE', cause: 'RESPONSE_TIMEOUT' };
      expect(await first).toMatchObject({ ok: false, failure });
      await again;
      requests[1]?.setHeader('content-type', 'application/json');
      requests[1]?.end(JSON.stringify({ access_token: 'abc', token_type: 'Bearer' }));
      expect(await other).toEqual({ ok: true, headers: [['authorization', 'Bearer abc']] });
    });

    it('is awaited no longer than its own run may last, and not once that is cancelled', async () => {
      const { requests, clock, authorize, arrived } = await waiting();
      const [stop, cancel] = [new AbortController(), new AbortController()];
      const { signal } = stop;
      const [first] = [authorize({ deadlineInMs: 30_000, signal }), await arrived()];
      const late = authorize({ deadlineInMs: 1000 });
      const cancelled = authorize({ deadlineInMs: 30_000, signal: cancel.signal });
      cancel.abort();
      expect(await cancelled).toMatchObject({ ok: false, failure: { code: 'CANCELLED' } });
      await clock.advance(1000);
      const message = expect.stringMatching(/RESPONSE_TIMEOUT: .* that another run requested/);
      expect(await late).toMatchObject({ failure: { cause: 'RESPONSE_TIMEOUT', message } });
      expect(requests).toHaveLength(1);
      stop.abort();
      expect(await first).toMatchObject({ failure: { code: 'CANCELLED' } });
    });
  });

  it('is replaced by a header of the check, and its client may be in the body', async () => {
    const { state, target, auth } = await platform();
    const headers = [{ key: 'Authorization', value: 'Bearer own-token-1' }];
    const own = await agent().run(api(target, auth, { headers }));
    expect(linesOf(own)).toContain('The header Authorization of the check replaces auth');
    expect(state.requests).toEqual([]);
    await agent().run(api(target, { ...auth, clientAuthentication: 'BODY' }));
    expect(state.requests[0]).toMatch(/^ scope=.*client_id=monitor&client_secret=Pl4nted/);
  });
});

// The parser takes anything that a target sends.
it('no challenge of a target takes long to read', () => {
  const head = { status: 401, statusText: '', httpVersion: '1.1' as const };
  for (const part of ['Digest a="', 'a=', '"\\', ', Digest ', 'a ', '=']) {
    const headers = { 'www-authenticate': part.repeat(8192 / part.length) };
    expect(digestChallengeOf({ ...head, headers })).toBeNull();
  }
});
