import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Check } from '../../../src/model/check/check.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { type OneOffMessage, oneOffMessageOf } from '../../../src/wire/v1/assignment.ts';
import { PATHS } from '../../../src/wire/v1/limits.ts';
import { json, read, UploadService } from '../../support/agent/upload-service.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { httpProxy } from '../../support/servers/http-proxy.ts';
import { answering, rawServer, response } from '../../support/servers/http-servers.ts';
import { listenTcp } from '../../support/servers/tcp-servers.ts';
import { type RunningAgent, startAgent, until } from '../../support/service/deployment.ts';
import { answerOf } from '../../support/service/service-stub.ts';

const KEY = `pl_${'5ecad4b1'.repeat(4)}`;
const ONCE = { retryStrategy: null, doubleCheck: false } as const;

/** A check from a hostile service: these fields over those of a valid one. */
interface Forged {
  readonly base: Check;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly request?: Readonly<Record<string, unknown>>;
}

interface HostileServiceFixture {
  readonly agent: RunningAgent;
  readonly service: UploadService;
  /** The results by check id. Resolves when all are there. */
  results(ids: readonly string[]): Promise<ReadonlyMap<string, CheckResult>>;
  /** By check id, why the agent refuses it. Resolves when it has reported all. */
  refusals(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The compiled agent, and a service that requests an immediate run of each check. */
async function given(
  checks: Readonly<Record<string, Check | Forged>>,
  {
    location = {},
    env = {},
    storeUrl = null,
  }: { location?: object; env?: Record<string, string>; storeUrl?: URL | null } = {},
): Promise<HostileServiceFixture> {
  const service = await UploadService.start();
  service.storeUrl = storeUrl;
  const runs = Object.entries(checks).map(([id, check], at) => oneOffOf(id, at, check));
  const refusals = new Map<string, string>();
  let isTold = false;
  service.always(PATHS.poll, async (request, reply) => {
    await read(request);
    const { refused } = JSON.parse(String(service.seen.at(-1)?.body));
    for (const { checkId, problem } of refused) refusals.set(checkId, problem);
    const answer = answerOf(systemClock, { full: !isTold, runs: isTold ? [] : runs });
    isTold = true;
    json(reply, 200, { ...answer, location: { ...answer.location, ...location } });
  });
  const stdoutFile = join(makeTestFolder(), 'stdout');
  const agent = await startAgent({ serviceUrl: service.url.href, key: KEY, stdoutFile, env });
  const told = (): ReadonlyMap<string, CheckResult> => {
    const lines = readFileSync(stdoutFile, 'utf8').split('\n').slice(0, -1);
    return new Map(lines.map((line) => JSON.parse(line)).map((one) => [one.checkId, one]));
  };
  const all = <Value>(ids: readonly string[], from: () => ReadonlyMap<string, Value>) =>
    until(
      async () => from(),
      (found) => ids.every((id) => found.has(id)),
    );
  return {
    agent,
    service,
    results: (ids) => all(ids, told),
    refusals: (ids) => all(ids, () => refusals),
  };
}

function oneOffOf(id: string, at: number, check: Check | Forged): OneOffMessage {
  const { base, fields = {}, request = {} }: Forged = 'base' in check ? check : { base: check };
  const nowMs = Date.now();
  const message = oneOffMessageOf({
    runId: `run-${at}`,
    check: { ...base, id },
    reason: 'requested',
    slot: nowMs + at,
    sequenceId: `sequence-${at}`,
    notBefore: null,
    notAfter: nowMs + 600_000,
    retriesMade: 0,
    firstStartedAt: null,
  });
  const body = { ...message.check, ...fields, request: { ...base.request, ...request } };
  return { ...message, check: body };
}

function codeOf({ apiCheckResult, tcpCheckResult }: CheckResult): string | null {
  return (apiCheckResult ?? tcpCheckResult)?.requestErrorCode ?? null;
}

it('can make an agent send any text to its own machine, and gets the answer (trust model SC1)', async () => {
  const neighbour = await rawServer(answering(response('200 OK', 'of the neighbour')));
  const tcp = await listenTcp((socket) => {
    socket.once('data', (asked) => socket.end(`you asked ${asked}`));
  });
  onTestFinished(() => tcp.close());
  const post = { url: neighbour.url('/admin?x=1'), method: 'POST', bodyType: 'RAW', body: 'do it' };
  const headers = [{ key: 'x-forwarded-for', value: '127.0.0.1' }];
  const { results } = await given({
    api: checkOf('API', { ...ONCE, request: { ...post, headers } }),
    tcp: checkOf('TCP', { ...ONCE, request: { port: tcp.port, data: 'CONFIG GET *' } }),
  });
  const got = await results(['api', 'tcp']);
  expect(neighbour.requests[0]).toMatch(/^POST \/admin\?x=1 HTTP\/1\.1\r\n/);
  expect(neighbour.requests[0]).toContain('x-forwarded-for: 127.0.0.1\r\n');
  expect(got.get('api')?.apiCheckResult?.response).toMatchObject({
    status: 200,
    body: 'of the neighbour',
  });
  expect(got.get('tcp')?.tcpCheckResult?.response?.data).toBe('you asked CONFIG GET *');
});

it('can make an agent send URL and API checks through any proxy (trust model SC5)', async () => {
  const proxy = await httpProxy();
  const target = await rawServer(answering(response('200 OK', 'through it')));
  const { results } = await given(
    { url: checkOf('URL', { ...ONCE, request: { url: target.url('/a') } }) },
    { location: { proxyUrl: proxy.url() } },
  );
  expect(codeOf((await results(['url'])).get('url') as CheckResult)).toBeNull();
  expect(proxy.requests).toMatchObject([{ method: 'GET', target: target.url('/a') }]);
});

it('can have artifacts sent to an origin that the operator named, even if TARGET_DENY denies it to checks', async () => {
  const target = await rawServer(
    answering(response('500 Failed', 'x'.repeat(500_000))),
    '127.0.0.9',
  );
  const store = await UploadService.start();
  store.always('/', async (request, reply) => {
    await read(request);
    reply.writeHead(200).end();
  });
  const { results } = await given(
    {
      body: checkOf('API', { ...ONCE, request: { url: target.url() } }),
      denied: checkOf('URL', { ...ONCE, request: { url: store.url.href } }),
    },
    {
      storeUrl: store.url,
      env: { TARGET_DENY: '127.0.0.1/32', ARTIFACT_ORIGINS: store.url.origin },
    },
  );
  const got = await results(['body', 'denied']);
  expect(codeOf(got.get('denied') as CheckResult)).toBe('ADDRESS_DENIED');
  const [part] = await until(
    async () => store.seen,
    (seen) => seen.length > 0,
  );
  expect([part?.method, part?.path]).toEqual(['PUT', '/1']);
});

it('reaches nothing that TARGET_DENY denies, however the address is written (trust model SN1)', async () => {
  const inside = await rawServer(answering(response('200 OK', 'secret')), '127.0.0.9');
  const outside = await rawServer(
    answering(response('302 Found', '', `Location: ${inside.url()}`)),
  );
  const { port } = inside;
  const url = (address: string, ipFamily = 'IPv4'): Check =>
    checkOf('URL', { ...ONCE, request: { url: address, ipFamily } });
  const checks = {
    literal: url(inside.url()),
    number: url(`http://2130706441:${port}/`),
    mapped: url(`http://[::ffff:127.0.0.9]:${port}/`, 'IPv6'),
    nat64: url(`http://[64:ff9b::7f00:9]:${port}/`, 'IPv6'),
    redirect: url(outside.url()),
    tcp: checkOf('TCP', { ...ONCE, request: { hostname: '127.0.0.9', port } }),
  };
  const ids = Object.keys(checks);
  const { results } = await given(checks, { env: { TARGET_DENY: '127.0.0.9/32' } });
  const got = await results(ids);
  expect([...got.values()].map(codeOf)).toEqual(ids.map(() => 'ADDRESS_DENIED'));
  expect(inside.requests).toEqual([]);
});

it('reads neither an environment variable that is not named nor the key (trust model SN6)', async () => {
  const target = await rawServer(answering(response('200 OK', 'fine')));
  const api = (request: object): Check =>
    checkOf('API', { ...ONCE, request: { url: target.url(), ...request } });
  const { results, agent, service } = await given(
    {
      key: api({ headers: [{ key: 'x-key', value: '{{API_KEY}}' }] }),
      path: api({ url: target.url('/?p={{PATH}}') }),
      other: api({ method: 'POST', bodyType: 'RAW', body: '{{OTHER}}' }),
      named: api({ method: 'POST', bodyType: 'RAW', body: 'has {{NAMED}}' }),
    },
    { env: { OTHER: 'of-nobody', NAMED: 'of-checks', VARIABLES_FROM_ENV: 'NAMED' } },
  );
  const got = await results(['key', 'path', 'other', 'named']);
  const codes = [...got.values()].map((result) => [result.checkId, codeOf(result)]);
  expect(Object.fromEntries(codes)).toEqual({
    key: 'VARIABLE_UNKNOWN',
    path: 'VARIABLE_UNKNOWN',
    other: 'VARIABLE_UNKNOWN',
    named: null,
  });
  expect(target.requests).toHaveLength(1);
  expect(target.requests[0]).toContain('has of-checks');
  await agent.kill('SIGTERM');
  const sent = service.seen.map(({ body }) => body.toString('latin1')).join('\n');
  expect([sent.includes(KEY), sent.includes('of-nobody')]).toEqual([false, false]);
});

const [URL_CHECK, API_CHECK, ICMP_CHECK] = [checkOf('URL'), checkOf('API'), checkOf('ICMP')];
const TCP_CHECK = checkOf('TCP');

/** Checks that an agent must not run, with the field that it says is wrong. */
const REFUSED: readonly (readonly [field: string, Forged])[] = [
  // Files and local sockets.
  ['request.url', { base: URL_CHECK, request: { url: 'file:///etc/passwd' } }],
  ['request.url', { base: API_CHECK, request: { url: 'unix:///run/docker.sock' } }],
  ['request.url', { base: URL_CHECK, request: { url: 'gopher://a.test:70/' } }],
  ['request.hostname', { base: TCP_CHECK, request: { hostname: '/run/docker.sock' } }],
  // Injected lines and headers in a request.
  [
    'request.headers.0.value',
    { base: API_CHECK, request: { headers: [{ key: 'x-a', value: 'b\r\nx-evil: 1' }] } },
  ],
  [
    'request.headers.0.key',
    { base: API_CHECK, request: { headers: [{ key: 'x-a: b\r\nx-evil', value: '1' }] } },
  ],
  [
    'request.headers.0.key',
    { base: API_CHECK, request: { headers: [{ key: ':authority', value: 'evil.test' }] } },
  ],
  ['request.method', { base: API_CHECK, request: { method: 'GET / HTTP/1.1\r\nx-evil: 1\r\n' } }],
  // Programs and scripts.
  ['checkType', { base: URL_CHECK, fields: { checkType: 'BROWSER', script: 'process.exit()' } }],
  ['checkType', { base: URL_CHECK, fields: { checkType: 'MULTI_STEP', script: '1' } }],
  ['request.hostname', { base: ICMP_CHECK, request: { hostname: '-f' } }],
  ['request.hostname', { base: ICMP_CHECK, request: { hostname: '$(id)' } }],
  ['request.hostname', { base: TCP_CHECK, request: { hostname: '127.0.0.1;id' } }],
  // Values beyond the limits.
  ['frequency', { base: URL_CHECK, fields: { frequency: 0.001 } }],
  ['maxResponseTime', { base: URL_CHECK, fields: { maxResponseTime: 30_001 } }],
  [
    'retryStrategy.maxRetries',
    {
      base: URL_CHECK,
      fields: { retryStrategy: { type: 'FIXED', baseBackoffSeconds: 0, maxRetries: 11 } },
    },
  ],
  ['request.pingCount', { base: ICMP_CHECK, request: { pingCount: 1_000_000 } }],
  [
    'request.body',
    {
      base: API_CHECK,
      request: { method: 'POST', bodyType: 'RAW', body: 'x'.repeat(1_000_001) },
    },
  ],
];

it('cannot have a file opened, a line added to a request, a program run or a limit exceeded (trust model SN7, SN8, SN9, SN10)', async () => {
  const good = checkOf('TCP', { ...ONCE, request: { port: 1 } });
  const forged = REFUSED.map(([, check], at) => [`forged-${at}`, check] as const);
  const { results, refusals, agent } = await given({ ...Object.fromEntries(forged), good });
  const told = await refusals(forged.map(([id]) => id));
  const fields = forged.map(([id]) => told.get(id)?.split(':')[0]);
  expect(fields).toEqual(REFUSED.map(([field]) => field));
  expect([...(await results(['good'])).keys()]).toEqual(['good']);
  expect(await agent.kill('SIGTERM')).toBe(0);
});

it('ends an agent by saying that another agent has its id: exit code 2 (trust model SC9)', async () => {
  const service = await UploadService.start();
  service.always(PATHS.poll, async (request, reply) => {
    await read(request);
    const attributes = { reason: 'replaced' };
    json(reply, 409, { statusCode: 409, error: 'Conflict', message: 'no', attributes });
  });
  const agent = await startAgent({ serviceUrl: service.url.href, key: KEY });
  expect(await agent.ended).toBe(2);
});
