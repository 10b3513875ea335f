import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { scriptFixture } from '../../../support/agent/script-fixture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { operatorSecretsOf } from '../../../support/samples/secrets.ts';
import { servedBy } from '../../../support/servers/http-servers.ts';

const ONCE = { retryStrategy: null };

interface Seen extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  readonly body: string;
}

/** A target that returns what it was sent, and the address of it. */
async function target(answer: RequestListener = (_, response) => void response.end('fine')) {
  const seen: Seen[] = [];
  const url = await servedBy((request, response) => {
    void text(request).then((body) => {
      const { method, url: path, headers } = request;
      seen.push({ method, url: path, headers, body });
      answer(request, response);
    });
  });
  return { url, seen };
}

function only({ results }: { readonly results: readonly CheckResult[] }): CheckResult {
  const [result] = results;
  if (result === undefined) throw new Error('there is no result');
  return result;
}

function errorOf({ apiCheckResult }: CheckResult) {
  return { code: apiCheckResult?.requestErrorCode, message: apiCheckResult?.requestError ?? '' };
}

function logOf({ apiCheckResult }: CheckResult): string {
  return (apiCheckResult?.jobLog ?? []).map(({ msg }) => msg).join('\n');
}

describe('a setup script', () => {
  it('signs the request with a secret, which no result has', async () => {
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    await fixture.run(
      checkOf('API', {
        ...ONCE,
        request: { url, method: 'POST', bodyType: 'JSON', body: '{"a":1}' },
        setupScript: `
          variables.set('KEY', 'signing-key-1');
          request.headers['x-signature'] = crypto.hmac('sha256', variables.get('KEY'), request.body);
          console.log('signed with', variables.get('KEY'));`,
      }),
    );
    const expected = createHmac('sha256', 'signing-key-1').update('{"a":1}').digest('hex');
    expect(seen[0]).toMatchObject({ body: '{"a":1}', headers: { 'x-signature': expected } });
    const result = only(fixture);
    expect(result.hasFailures).toBe(false);
    expect(logOf(result)).toContain('signed with ********');
    expect(JSON.stringify(result)).not.toContain('signing-key-1');
  });

  it('gets a token by a request of its own, and sets the variable of a header (trust model SC14)', async () => {
    const login = await target((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ token: 'token-from-login' }));
    });
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    await fixture.run(
      checkOf('API', {
        ...ONCE,
        request: { url, headers: [{ key: 'x-token', value: 'T {{TOKEN}}' }] },
        setupScript: `
          const response = await fetch('${login.url}/login', { method: 'POST', body: 'me' });
          variables.set('TOKEN', (await response.json()).token);`,
      }),
    );
    expect(login.seen).toMatchObject([{ method: 'POST', url: '/login', body: 'me' }]);
    expect(seen[0]?.headers['x-token']).toBe('T token-from-login');
    expect(JSON.stringify(only(fixture))).not.toContain('token-from-login');
  });

  it('runs after the one of its group', async () => {
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    const setup = [
      { owner: 'group', source: `request.headers['x-by'] = 'group'; variables.set('A', 'a-1')` },
      { owner: 'check', source: `request.headers['x-by'] += ' check ' + variables.get('A')` },
    ] as const;
    const check = checkOf('API', { ...ONCE, request: { url } });
    await fixture.run({ ...check, scripts: { setup: [...setup], teardown: [] } });
    expect(seen[0]?.headers['x-by']).toBe('group check a-1');
  });

  it('sends no body that the check does not send, and the one that it writes', async () => {
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    const request = { url, method: 'POST', bodyType: 'NONE', body: 'kept for later' };
    for (const setupScript of ['1', `request.body += 'written'`]) {
      await fixture.run(checkOf('API', { ...ONCE, request, setupScript }));
    }
    expect(seen.map(({ body }) => body)).toEqual(['', 'written']);
  });

  it('is not part of the response time', async () => {
    const { url } = await target();
    const fixture = await scriptFixture();
    const setupScript = `const end = Date.now() + 300; while (Date.now() < end);`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript }));
    const result = only(fixture);
    const startedMs = new Date(result.startedAt).getTime();
    const stoppedMs = new Date(result.stoppedAt).getTime();
    expect(stoppedMs - startedMs - result.responseTime).toBeGreaterThan(290);
  });

  it('sends nothing to a network that TARGET_DENY blocks', async () => {
    const { url, seen } = await target();
    const guard = denyNetworks([{ text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 }]);
    const fixture = await scriptFixture({ parts: { guard } });
    const setupScript = `await fetch('${url}')`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript }));
    expect(errorOf(only(fixture)).code).toBe('SCRIPT_FAILED');
    expect(seen).toEqual([]);
  });

  it('sends no more credentials by fetch than the agent masks', async () => {
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    const setupScript = `
      for (let i = 0; i < 9; i += 1) {
        await fetch('${url}', { headers: { authorization: String(i).repeat(12_000) } });
      }`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript }));
    expect(seen.filter(({ headers }) => headers.authorization !== undefined)).toHaveLength(8);
    expect(errorOf(only(fixture)).message).toContain('have at most 100000 characters in all');
  });

  it('cannot send a bound variable elsewhere, and does not see it', async () => {
    const { url, seen } = await target();
    const secrets = await operatorSecretsOf({ TOKEN: 'bound-secret' }, ['TOKEN@127.0.0.1']);
    const fixture = await scriptFixture({ parts: { secrets } });
    const elsewhere = url.replace('127.0.0.1', 'localhost');
    const setupScript = `
      const token = variables.get('TOKEN');
      console.log(token, token === 'bound-secret', token.length);
      await fetch('${elsewhere}/stolen?t=' + token).catch((error) => console.log(error));
      request.headers['x-token'] = token;`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript }));
    expect(seen).toMatchObject([{ url: '/', headers: { 'x-token': 'bound-secret' } }]);
    expect(logOf(only(fixture))).toContain('{{TOKEN}} false');
    expect(logOf(only(fixture))).toContain('The variable TOKEN may not be sent to');
    expect(JSON.stringify(only(fixture))).not.toContain('bound-secret');
  });

  it('does not see a bound variable in the error of a request that failed', async () => {
    const other = await target();
    const { url } = await target((request) => void request.socket.destroy());
    const { host } = new URL(url);
    const secrets = await operatorSecretsOf({ TOKEN: 'bound-secret' }, [`TOKEN@${host}`]);
    const fixture = await scriptFixture({ parts: { secrets } });
    const setupScript = `
      await fetch('${url}/' + variables.get('TOKEN')).catch(({ message }) =>
        fetch('${other.url}/', { method: 'POST', body: message }));`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url: other.url }, setupScript }));
    expect(other.seen).toHaveLength(2);
    expect(other.seen[0]?.body).toMatch(/^fetch failed: [A-Z0-9_]+ \(the job log/);
    expect(logOf(only(fixture))).toContain(`GET ${url}/********`);
    expect(JSON.stringify(only(fixture))).not.toContain('bound-secret');
  });

  it.each([
    ['throws', `\nnull.a`, /^The setup script of the check failed in line 2: TypeError/],
    ['leaves no URL', `request.url = 'mailto:me'`, /url/],
    ['leaves a header with a line break', `request.headers.a = 'b\\r\\nc: d'`, /headers 1/],
    ['replaces its request', `request = null`, /TypeError/],
  ])('fails its check if it %s, also one that should fail', async (_, setupScript, message) => {
    const { url, seen } = await target();
    const fixture = await scriptFixture();
    await fixture.run(checkOf('API', { ...ONCE, shouldFail: true, request: { url }, setupScript }));
    expect(only(fixture).hasFailures).toBe(true);
    expect(errorOf(only(fixture))).toEqual({
      code: 'SCRIPT_FAILED',
      message: expect.stringMatching(message),
    });
    expect(seen).toEqual([]);
  });

  it('is refused if the operator switched scripts off', async () => {
    const { url, seen } = await target();
    const fixture = await scriptFixture({ isEnabled: false });
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript: '1' }));
    expect(errorOf(only(fixture)).code).toBe('SCRIPT_REFUSED');
    expect(only(fixture).hasFailures).toBe(true);
    expect(seen).toEqual([]);
  });
});

describe('a teardown script', () => {
  it('reads the response, and deletes what the setup made, also if an assertion fails', async () => {
    const { url, seen } = await target((_, response) => {
      response.writeHead(201, { 'x-id': '7' }).end('{"id":7}');
    });
    const fixture = await scriptFixture();
    await fixture.run(
      checkOf('API', {
        ...ONCE,
        request: {
          url,
          assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
        },
        setupScript: `variables.setPublic('NAME', 'made')`,
        teardownScript: `
          const { id } = JSON.parse(response.body);
          console.log(variables.get('NAME'), response.status, response.headers.get('x-id'));
          await fetch('${url}/' + id, { method: 'DELETE' });`,
      }),
    );
    expect(seen).toMatchObject([{ url: '/' }, { method: 'DELETE', url: '/7' }]);
    const result = only(fixture);
    expect(logOf(result)).toContain('made 201 7');
    expect(result.hasFailures).toBe(true);
    expect(errorOf(result).code).toBeNull();
  });

  it('fails the check, whose response stays', async () => {
    const { url } = await target();
    const fixture = await scriptFixture();
    const teardownScript = `if (response.body === 'fine') throw new Error('left behind')`;
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, teardownScript }));
    const result = only(fixture);
    expect(result.hasFailures).toBe(true);
    expect(errorOf(result)).toEqual({
      code: 'SCRIPT_FAILED',
      message: 'The teardown script of the check failed in line 1: Error: left behind',
    });
    expect(result.apiCheckResult?.response?.status).toBe(200);
  });
});
