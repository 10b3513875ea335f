import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NO_OPERATOR_VARIABLES } from '../../../../src/agent/config/operator-variables.ts';
import type { ArtifactTaker } from '../../../../src/agent/run/artifacts/failed-body.ts';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import { openAgentSecrets } from '../../../../src/agent/secrets/agent-secrets.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import { type RunFixture, runFixture } from '../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { encodingsOf } from '../../../support/samples/secret-encodings.ts';
import { HEADER_KINDS, leaksOf, secretOf } from '../../../support/samples/secret-leaks.ts';
import { agentSecretsOf } from '../../../support/samples/secrets.ts';

const ONCE = { retryStrategy: null };
const MASK = '********';

type Echo = (request: IncomingMessage, response: ServerResponse) => void;

async function echoing(echo: Echo): Promise<number> {
  const server = createServer(echo);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The texts that a target knows about its client: what it was sent, and parts of that. */
function knownFrom({ headers }: IncomingMessage): readonly string[] {
  const sent = Object.entries(headers).flatMap(([name, value]) => {
    const isEveryday = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'];
    return isEveryday.includes(name) ? [] : [String(value)];
  });
  return sent.flatMap((value) => {
    const token = value.replace(/^\w+ +/, '');
    const pair = Buffer.from(token, 'base64').toString('utf8');
    const cookies = value.split('; ').map((one) => one.replace(/^\w+=/, ''));
    return [value, token, ...cookies, pair, pair.replace(/^.*?:/, '')];
  });
}

/** Each text in each encoding. */
function everyForm(request: IncomingMessage): readonly string[] {
  return knownFrom(request).flatMap((known) => Object.values(encodingsOf(known)));
}

/** As many whole texts as fit. The agent cannot recognise an arbitrary part of a text. */
function joinedTo(maxChars: number, texts: readonly string[], separator: string): string {
  const fitting = texts.filter(
    (_, index) => texts.slice(0, index + 1).join(separator).length <= maxChars,
  );
  return fitting.join(separator);
}

const PLACES: Readonly<Record<string, Echo>> = {
  body: (request, response) => void response.end(joinedTo(9_000, everyForm(request), ' ')),
  'header and reason': (request, response) => {
    const [known = ''] = knownFrom(request);
    response.writeHead(500, known, {
      'x-echo': known,
      'x-hex': Buffer.from(known).toString('hex'),
    });
    response.end();
  },
  redirect: (request, response) => {
    if (request.url !== '/') return void response.end('there');
    const known = joinedTo(2_000, knownFrom(request).map(encodeURIComponent), '&');
    response.writeHead(302, { location: `/next?${known}` }).end();
  },
  'redirect to nowhere': (request, response) => {
    const known = encodeURIComponent(knownFrom(request)[1] ?? '');
    response.writeHead(302, { location: `gopher://${known}` }).end();
  },
  artifact: (request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end(`${'long '.repeat(20_000)}${everyForm(request).join(' ')}`);
  },
};

/** Without characters that end the value of a cookie or of a part of a URL. */
const WORD_KINDS = ['abcxyzABCXYZ', '0123456789', '!$*-.^_|~'];

const TOKEN = secretOf('TOKEN', HEADER_KINDS);
const PASSWORD = secretOf('PASSWORD', [...HEADER_KINDS, 'é😀']);
const COOKIE = secretOf('COOKIE', WORD_KINDS);
const PAIR = `monitor:${PASSWORD}`;
const BASIC = `Basic ${Buffer.from(PAIR).toString('base64')}`;

/** By kind of credential: the fields of the request, and its secrets. */
const KINDS: Readonly<Record<string, [object, Readonly<Record<string, string>>]>> = {
  ...Object.fromEntries(
    ['Authorization', 'Proxy-Authorization'].map((key) => [
      key,
      [{ headers: [{ key, value: `Bearer ${TOKEN}` }] }, { TOKEN }],
    ]),
  ),
  ...Object.fromEntries(
    ['X-API-Key', 'api-key', 'X-Auth-Token', 'X-Amz-Security-Token'].map((key) => [
      key,
      [{ headers: [{ key, value: ` ${TOKEN} ` }] }, { TOKEN }],
    ]),
  ),
  'Authorization of the scheme Basic': [
    { headers: [{ key: 'authorization', value: BASIC }] },
    { PASSWORD, PAIR },
  ],
  Cookie: [
    { headers: [{ key: 'Cookie', value: `theme=${COOKIE}; session=${COOKIE}9; x="${COOKIE}8"` }] },
    { COOKIE, OTHER: `${COOKIE}9`, QUOTED: `${COOKIE}8` },
  ],
  basicAuth: [{ basicAuth: { username: 'monitor', password: PASSWORD } }, { PASSWORD, PAIR }],
  'basicAuth without a password': [
    { basicAuth: { username: PASSWORD, password: '' } },
    { PASSWORD },
  ],
};

function kept() {
  const bodies: Buffer[] = [];
  const artifacts: ArtifactTaker = {
    add: async ({ bytes }) => {
      bodies.push(Buffer.from(bytes));
      return { ok: true, asset: '/v1/artifacts/1' };
    },
  };
  return { bodies, artifacts };
}

/** Everything about a run that leaves the agent. */
async function leavingOf(check: Check, given: Partial<RunFixture['parts']> = {}) {
  const { bodies, artifacts } = kept();
  const parts = { artifacts, secrets: await agentSecretsOf(), ...given };
  const fixture = runFixture({ clock: new FakeClock(), parts });
  await fixture.run(check);
  const result = Buffer.from(JSON.stringify(fixture.results));
  const log = Buffer.from(JSON.stringify(fixture.logRecords()));
  const [only] = fixture.results;
  return { http: only?.apiCheckResult, places: { result, log, body: Buffer.concat(bodies) } };
}

describe('a credential that is not declared secret', () => {
  describe.each(Object.entries(KINDS))('%s', (_, [parts, secrets]) => {
    it.each(Object.entries(PLACES))(
      'is masked where the target repeats it: %s',
      async (_, echo) => {
        const url = `http://127.0.0.1:${await echoing(echo)}/`;
        const { http, places } = await leavingOf(
          checkOf('API', { request: { url, ...parts }, ...ONCE }),
        );
        expect(leaksOf(secrets, places)).toEqual([]);
        expect(places.result.toString()).toContain(MASK);
        expect(http?.response ?? http?.requestErrorCode).toBeTruthy();
      },
    );
  });

  it.each(Object.entries(PLACES))('is masked if it is in the url: %s', async (_, echo) => {
    const port = await echoing(echo);
    const url = `http://monitor:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/`;
    for (const type of ['URL', 'API'] as const) {
      const { places } = await leavingOf(checkOf(type, { request: { url }, ...ONCE }));
      expect(leaksOf({ PASSWORD, PAIR }, places)).toEqual([]);
    }
  });

  it('is masked with its scheme, also in assertions, and only for that check', async () => {
    const body = 'Bearer abc-123-def, theme dark, and the user monitor';
    const request = {
      url: `http://127.0.0.1:${await echoing((_, response) => void response.end(body))}/`,
      assertions: [
        { source: 'TEXT_BODY', property: '', comparison: 'EQUALS', target: '', regex: null },
      ],
    };
    const headers = [
      { key: 'Authorization', value: 'Bearer abc-123-def' },
      { key: 'Cookie', value: 'theme=dark' },
    ];
    const basicAuth = { username: 'monitor', password: 'not-in-it' };
    const { http } = await leavingOf(
      checkOf('API', { request: { ...request, headers, basicAuth }, ...ONCE }),
    );
    const masked = `${MASK}, theme ${MASK}, and the user monitor`;
    expect(http?.response?.body).toBe(masked);
    expect(http?.assertions[0]?.actual).toBe(masked);
    const other = await leavingOf(checkOf('API', { request, ...ONCE }));
    expect(other.http?.response?.body).toBe(body);
  });

  it('is shown if it is too short or too common to be a secret', async () => {
    const body = 'abc true abcd';
    const url = `http://127.0.0.1:${await echoing((_, response) => void response.end(body))}/`;
    const headers = [
      { key: 'X-API-Key', value: 'abc' },
      { key: 'Cookie', value: 'a=true; b=; c' },
    ];
    const { http } = await leavingOf(checkOf('API', { request: { url, headers }, ...ONCE }));
    expect(http?.response?.body).toBe(body);
  });

  it('is masked completely beside declared secrets, whichever is a part of the other', async () => {
    const secrets = await agentSecretsOf(
      { key: 'PART', value: 'declared-1', secret: true },
      { key: 'ALL', value: 'a=cookie-one; b=cookie-two', secret: true },
      { key: 'OPEN', value: 'open-value', secret: false },
    );
    const port = await echoing(({ headers }, response) => {
      response.end(`[${headers.authorization}] [${headers.cookie}] [${headers['x-api-key']}]`);
    });
    const headers = [
      { key: 'Authorization', value: 'Bearer {{PART}}-and-more' },
      { key: 'Cookie', value: '{{ALL}}' },
      { key: 'X-API-Key', value: '{{OPEN}}' },
    ];
    const request = { url: `http://127.0.0.1:${port}/`, headers };
    const { http } = await leavingOf(checkOf('API', { request, ...ONCE }), { secrets });
    expect(http?.response?.body).toBe(`[${MASK}] [${MASK}] [${MASK}]`);
  });

  it('is reported in the job log if it is too long to be masked', async () => {
    const url = `http://127.0.0.1:${await echoing((_, response) => void response.end())}/`;
    const headers = Array.from({ length: 7 }, (_, at) => ({
      ...{ key: `x-api-key-${at}`, value: `${at}${'k'.repeat(19_000)}` },
    }));
    const { http } = await leavingOf(checkOf('API', { request: { url, headers }, ...ONCE }));
    const lines = http?.jobLog.map(({ msg }) => msg) ?? [];
    expect(lines.filter((line) => line.includes('credentials'))).toEqual([
      expect.stringMatching(/^2 credentials of the request are too many or too long to be masked/),
    ]);
  });

  it('is masked if it is in the proxyUrl of a location and the proxy repeats it', async () => {
    const port = await echoing(PLACES.body as Echo);
    const proxyUrl = `http://monitor:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
    const { log } = captureLog();
    const options = { operator: NO_OPERATOR_VARIABLES, always: [], clock: new FakeClock(), log };
    const secrets = await openAgentSecrets(options);
    await secrets.take({ checks: [], variables: [], proxyUrl });
    const { checkTypes } = runFixture({ clock: new FakeClock() }).parts;
    const API = httpRunner<'API'>({ clientCertificates: () => [], proxyUrl: () => proxyUrl });
    const check = checkOf('API', { request: { url: 'http://target.test/' }, ...ONCE });
    const { http, places } = await leavingOf(check, {
      secrets,
      checkTypes: { ...checkTypes, API },
    });
    expect(http?.response?.body).toContain(MASK);
    expect(leaksOf({ PASSWORD }, places)).toEqual([]);
  });
});
