import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EvidenceBudget } from '../../../../src/agent/evidence/evidence-budget.ts';
import { SharedBodyMemory } from '../../../../src/agent/probes/http/body/body-memory.ts';
import type { ArtifactTaker } from '../../../../src/agent/run/artifacts/failed-body.ts';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { createScrubber } from '../../../../src/scrub/scrubber.ts';
import {
  type StubCapturer,
  type StubTracer,
  stubCapturer,
  stubTracer,
} from '../../../support/agent/fake-evidence.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { type RunFixture, runFixture } from '../../../support/agent/run-fixture.ts';
import { scriptTools } from '../../../support/agent/script-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { EMPTY_SECRETS, operatorSecretsOf } from '../../../support/samples/secrets.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { listen } from '../../../support/servers/http-servers.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

interface EvidenceFixture extends RunFixture {
  readonly tracer: StubTracer;
  readonly capturer: StubCapturer;
  readonly kept: { readonly name: string; readonly text: string }[];
}

function fixtureOf(
  tracer: StubTracer,
  parts: Partial<RunnerParts> = {},
  concurrency = 100,
  capturesSecrets = false,
): EvidenceFixture {
  const clock = systemClock;
  const capturer = stubCapturer();
  const kept: { name: string; text: string }[] = [];
  const artifacts: ArtifactTaker = {
    async add({ name, bytes }) {
      kept.push({ name, text: Buffer.from(bytes).toString() });
      return { ok: true, asset: `/v1/artifacts/${name}` };
    },
  };
  const server = { address: '192.0.2.53', port: 53 };
  const nameServers = () => ({ servers: [server] as const, timeoutMs: 5000, attempts: 2 });
  const evidence = new EvidenceBudget({
    clock,
    tracer,
    capturer,
    capturesSecrets,
    nameServers,
    onPass() {},
  });
  const fixture = runFixture({ clock, concurrency, parts: { evidence, artifacts, ...parts } });
  return Object.assign(fixture, { tracer, capturer, kept });
}

/** The messages of the job log of the only result, or the last. */
function storyOf({ results }: RunFixture): readonly string[] {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult } = results.at(-1) ?? {};
  const detail = apiCheckResult ?? tcpCheckResult ?? dnsCheckResult;
  return (detail?.jobLog ?? []).map(({ msg }) => msg);
}

async function refused(): Promise<number> {
  const { port, close } = await refusingPort();
  onTestFinished(close);
  return port;
}

/** Resets each connection once it has a request, and counts those. */
async function resetting(): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer((request) => {
    asked += 1;
    request.socket.resetAndDestroy();
  });
  const port = await listen(server);
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    await closed;
  });
  return { url: `http://127.0.0.1:${port}/`, asked: () => asked };
}

it('reports a hundred failures at once, and delays only the two that it examines', async () => {
  const fixture = fixtureOf(stubTracer('held'), {}, 4);
  const port = await refused();
  const request = { hostname: '127.0.0.1', port };
  const runs = Array.from({ length: 100 }, (_, index) =>
    fixture.run(checkOf('TCP', { id: `check-${index}`, retryStrategy: null, request })),
  );
  await fixture.resultCount(98);
  expect(fixture.tracer.underWay).toBe(2);
  // Their permits are free: as many other runs as usual work at once.
  const healthy = await listenTcp((socket) => socket.end());
  onTestFinished(() => healthy.close());
  const fine = { hostname: '127.0.0.1', port: healthy.port };
  await Promise.all(
    Array.from({ length: 4 }, (_, index) =>
      fixture.run(checkOf('TCP', { id: `fine-${index}`, request: fine })),
    ),
  );
  expect(fixture.results.filter(({ hasFailures }) => !hasFailures)).toHaveLength(4);
  fixture.tracer.release();
  await Promise.all(runs);
  expect(fixture.results).toHaveLength(104);
  expect(fixture.results.filter(({ tcpCheckResult }) => tcpCheckResult?.traceroute)).toHaveLength(
    2,
  );
});

it('reports the failure even if the run is aborted during the pass', async () => {
  const fixture = fixtureOf(stubTracer('held'));
  const stop = new AbortController();
  const request = { hostname: '127.0.0.1', port: await refused() };
  const running = fixture.run(checkOf('TCP', { retryStrategy: null, request }), stop.signal);
  await eventually(() => fixture.tracer.underWay === 1);
  stop.abort();
  await running;
  expect(fixture.missed).toEqual([]);
  expect(fixture.results).toMatchObject([
    { resultType: 'FINAL', hasFailures: true, tcpCheckResult: { pcapDataUrl: expect.any(String) } },
  ]);
  expect(fixture.capturer.open).toBe(0);
});

it('reports the failure even if the evidence cannot be saved', async () => {
  const add: ArtifactTaker['add'] = () => Promise.reject(new Error('the disk is gone'));
  const fixture = fixtureOf(stubTracer('at once'), { artifacts: { add } });
  const request = { hostname: '127.0.0.1', port: await refused() };
  await fixture.run(checkOf('TCP', { retryStrategy: null, request }));
  expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
  expect(storyOf(fixture).join('\n')).toContain('could not be saved: a fault of the agent itself');
});

it('repeats the attempt at the same address, whatever the name resolves to by then', async () => {
  const port = await refused();
  const elsewhere = await listenTcp((socket) => socket.end(), '127.0.0.3', port);
  onTestFinished(() => elsewhere.close());
  const turns = ['127.0.0.1', '127.0.0.3'];
  const resolver: RunnerParts['resolver'] = {
    resolve: async () => ({ ok: true, addresses: [turns.shift() ?? '127.0.0.3'] }),
  };
  const fixture = fixtureOf(stubTracer('at once'), { resolver });
  await fixture.run(
    checkOf('TCP', { retryStrategy: null, request: { hostname: 'shop.test', port } }),
  );
  expect(fixture.capturer.filters).toEqual([{ addresses: ['127.0.0.1'], port, transport: 'tcp' }]);
  expect(storyOf(fixture).join('\n')).toContain(
    'of a repeated attempt, which ended with CONNECT_REFUSED',
  );
});

it.each([
  { method: 'GET', retries: null, times: 2 },
  { method: 'POST', retries: { type: 'SINGLE_RETRY', baseBackoffSeconds: 0 }, times: 3 },
  { method: 'POST', retries: null, times: 1 },
])('sends a $method that failed $times times in all, with the retries $retries', async (row) => {
  const { url, asked } = await resetting();
  const fixture = fixtureOf(stubTracer('at once'));
  const { method, retries, times } = row;
  const request = { url, method, body: method === 'POST' ? '{}' : '' };
  await fixture.run(
    checkOf('API', { retryStrategy: retries, doubleCheck: false, request: { ...request } }),
  );
  expect(asked()).toBe(times);
  const isTold = storyOf(fixture).some((line) => line.startsWith('No capture: a POST request was'));
  expect(isTold).toBe(times === 1);
  expect(fixture.results.at(-1)?.apiCheckResult?.traceroute).not.toBeNull();
});

it.each([
  ['changes the method', `request.method = 'DELETE'`, 'DELETE'],
  ['sends another', `await fetch(request.url, { method: 'POST' }).catch(() => 0)`, 'POST'],
])('does not send a GET again whose script %s', async (_, setupScript, method) => {
  const { url } = await resetting();
  const fixture = fixtureOf(stubTracer('at once'), { scripts: scriptTools() });
  const fields = { retryStrategy: null, doubleCheck: false, setupScript };
  await fixture.run(checkOf('API', { ...fields, request: { url } }));
  expect(fixture.capturer.filters).toEqual([]);
  expect(storyOf(fixture).join('\n')).toContain(`No capture: a ${method} request was sent`);
});

it('repeats the attempt with any method if nothing was sent', async () => {
  const fixture = fixtureOf(stubTracer('at once'));
  const request = { url: `http://127.0.0.1:${await refused()}/`, method: 'DELETE' };
  await fixture.run(checkOf('API', { retryStrategy: null, doubleCheck: false, request }));
  expect(fixture.kept.map(({ name }) => name)).toEqual(['traceroute.json', 'capture.pcap']);
});

/** Breaks the first connections off, and answers the next ones with a body longer than a result stores. */
async function comingBack(broken: number): Promise<string> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked <= broken) request.socket.resetAndDestroy();
    else response.end('long '.repeat(20_000));
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}/`;
}

it('does not report that the repeated attempt passed if its body did not fit in memory', async () => {
  const bodyRoom = new SharedBodyMemory(1024 * 1024);
  bodyRoom.open(true).take(1024 * 1024, 'assertions');
  const fixture = fixtureOf(stubTracer('at once'), { bodyRoom });
  const assertions = [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'not in it' }];
  const request = { url: await comingBack(1), assertions };
  await fixture.run(checkOf('API', { retryStrategy: null, doubleCheck: false, request }));
  const story = storyOf(fixture).join('\n');
  expect(story).not.toContain('which passed');
  expect(story).toContain(
    'of a repeated attempt, which reached the target; its assertions were not evaluated, as the agent had no memory for the body',
  );
});

it('releases the memory that an attempt had reserved during the pass', async () => {
  const size = 1024 * 1024;
  const bodyRoom = new SharedBodyMemory(size);
  const others = bodyRoom.open(true);
  others.take(size, 'assertions');
  const fixture = fixtureOf(stubTracer('held'), {
    bodyRoom,
    onBodyWithoutRoom: () => setImmediate(() => others.close()),
  });
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked === 1) response.end('long '.repeat(20_000));
    else request.socket.resetAndDestroy();
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  onTestFinished(() => void server.close());
  const assertions = [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'long' }];
  const check = checkOf('API', {
    retryStrategy: null,
    doubleCheck: false,
    request: { url, assertions },
  });
  const run = fixture.run(check, undefined, { slotMs: systemClock.wallMs() });
  await eventually(() => fixture.tracer.underWay === 1);
  const { freeBytes } = bodyRoom;
  fixture.tracer.release();
  await run;
  expect([freeBytes, asked]).toEqual([size, 3]);
  expect(fixture.results).toMatchObject([{ hasFailures: true }]);
});

it('captures both transports of the port at which a name server of a check was asked', async () => {
  const silent = await refused();
  const fixture = fixtureOf(stubTracer('at once'));
  const request = { query: 'shop.test', nameServer: '127.0.0.1', port: silent };
  await fixture.run(checkOf('DNS', { retryStrategy: null, doubleCheck: false, request }));
  expect(fixture.capturer.filters).toEqual([
    { addresses: ['127.0.0.1'], port: silent, transport: 'dns' },
  ]);
  expect(fixture.results[0]?.dnsCheckResult?.requestErrorCode).toBe('DNS_UNREACHABLE');
});

it('makes no pass if the attempt had no endpoint', async () => {
  const { checkTypes } = runFixture({ clock: systemClock }).parts;
  const unusable = { clientCertificates: () => [], proxyUrl: () => 'gopher://proxy.test' };
  const fixture = fixtureOf(stubTracer('at once'), {
    checkTypes: { ...checkTypes, API: httpRunner(unusable) },
  });
  await fixture.run(checkOf('API', { retryStrategy: null, doubleCheck: false }));
  expect(fixture.results[0]?.apiCheckResult?.requestErrorCode).toBe('PROXY_UNREACHABLE');
  expect(fixture.tracer.targets).toEqual([]);
});

it('masks secrets in the trace, its file and the job log', async () => {
  const scrubber = createScrubber(['hush-hush']);
  const fixture = fixtureOf(stubTracer('at once', 'hush-hush.example'), {
    secrets: { ...EMPTY_SECRETS, scrubberWith: async () => scrubber },
  });
  const request = { hostname: '127.0.0.1', port: await refused() };
  await fixture.run(checkOf('TCP', { retryStrategy: null, request }));
  expect(fixture.results[0]?.tcpCheckResult?.traceroute?.hops[0]?.host).toBe('********.example');
  expect(JSON.stringify([fixture.results, fixture.kept])).not.toContain('hush');
});

describe('the capture of a failed run with a variable that only the agent has', () => {
  const capturesOf = ({ kept }: EvidenceFixture): number =>
    kept.filter(({ name }) => name === 'capture.pcap').length;
  const secrets = () => operatorSecretsOf({ TOKEN: 'planted-token' });
  const LINE =
    'No capture: the request is not encrypted and has the variable TOKEN, which only the agent has (EVIDENCE=with-secrets captures it all the same)';

  const failing = async () => {
    const port = await refused();
    const fields = { retryStrategy: null, doubleCheck: false };
    const api = (url: string, headers: readonly object[]) =>
      checkOf('API', { ...fields, request: { url, headers } });
    const header = { key: 'x-token', value: '{{TOKEN}}' };
    return {
      http: api(`http://127.0.0.1:${port}/`, [header]),
      https: api(`https://127.0.0.1:${port}/`, [header]),
      host: api(`https://{{TOKEN}}.test:${port}/`, []),
      tcp: checkOf('TCP', { ...fields, request: { port, data: 'AUTH {{TOKEN}}' } }),
      none: api(`http://127.0.0.1:${port}/`, []),
    };
  };

  it.each(['http', 'host', 'tcp'] as const)(
    'is not made of an unencrypted one: %s (trust model SN14)',
    async (kind) => {
      const fixture = fixtureOf(stubTracer('at once'), {
        secrets: await secrets(),
        resolver: loopbackResolver,
      });
      await fixture.run((await failing())[kind]);
      expect(fixture.capturer.filters).toEqual([]);
      expect(capturesOf(fixture)).toBe(0);
      expect(storyOf(fixture)).toContain(LINE);
      expect(fixture.tracer.targets).toHaveLength(1);
    },
  );

  it.each([
    ['in each attempt', 'USE', 'No capture'],
    [
      'in the repeated one, which it fails',
      `if (nth === '2') { USE; throw new Error('no') }`,
      'The capture is not saved',
    ],
  ])('is not kept of a fetch %s (trust model SN14)', async (_, script, line) => {
    let attempts = 0;
    const server = createServer((request, response) => {
      if (request.url === '/nth') attempts += 1;
      if (request.url === '/') request.socket.resetAndDestroy();
      else response.end(String(attempts));
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    onTestFinished(() => void server.close());
    const bound = await operatorSecretsOf({ TOKEN: 'planted-token' }, ['TOKEN@127.0.0.1']);
    const parts = { secrets: bound, scripts: scriptTools() };
    const fixture = fixtureOf(stubTracer('at once'), parts);
    const use = `await fetch('${url}/use', { headers: { 'x-t': variables.get('TOKEN') } })`;
    const setupScript = `
      const nth = await (await fetch('${url}/nth')).text();
      ${script.replace('USE', use)}`;
    const fields = { retryStrategy: null, doubleCheck: false, setupScript };
    await fixture.run(checkOf('API', { ...fields, request: { url: `${url}/` } }));
    expect(attempts).toBe(line === 'No capture' ? 1 : 2);
    expect(capturesOf(fixture)).toBe(0);
    const story = storyOf(fixture).find((each) => each.startsWith(line)) ?? '';
    expect(story).toContain(
      'a request of the check or its scripts is not encrypted and may have the variable TOKEN',
    );
  });

  it.each(['https', 'none'] as const)('is made if nobody can read it: %s', async (kind) => {
    const fixture = fixtureOf(stubTracer('at once'), { secrets: await secrets() });
    await fixture.run((await failing())[kind]);
    expect(capturesOf(fixture)).toBe(1);
  });

  it.each<readonly [string, 'https' | 'http', string, string | null]>([
    ['an encrypted one', 'https', `request.headers['x-by'] = 'script'`, null],
    ['an unencrypted one', 'http', `request.headers['x-by'] = 'script'`, 'may have the variable'],
    [
      'one whose host a script made of it',
      'https',
      `request.url = request.url.replace('127.0.0.1', variables.get('TOKEN') + '.test')`,
      'may have the variable',
    ],
  ])('depends on where a script may have put one without targets: %s', async (...row) => {
    const [, scheme, setupScript, why] = row;
    const parts = {
      secrets: await secrets(),
      scripts: scriptTools(),
      resolver: loopbackResolver,
    };
    const fixture = fixtureOf(stubTracer('at once'), parts);
    const request = { url: `${scheme}://127.0.0.1:${await refused()}/` };
    const fields = { retryStrategy: null, doubleCheck: false, setupScript };
    await fixture.run(checkOf('API', { ...fields, request }));
    expect(capturesOf(fixture)).toBe(why === null ? 1 : 0);
    if (why !== null) expect(storyOf(fixture).join('\n')).toContain(`${why} TOKEN`);
  });

  it('is made of all with EVIDENCE=with-secrets (trust model SC4)', async () => {
    const parts = { secrets: await secrets(), resolver: loopbackResolver };
    const fixture = fixtureOf(stubTracer('at once'), parts, 100, true);
    for (const check of Object.values(await failing())) await fixture.run(check);
    expect(capturesOf(fixture)).toBe(5);
  });

  it('is discarded if the repeated attempt was redirected to an unencrypted request', async () => {
    const identity = await createSelfSigned({ names: ['shop.test'] });
    const plain = `http://shop.test:${await refused()}/`;
    let asked = 0;
    const server = createTlsServer(identity, (request, response) => {
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else response.writeHead(302, { location: plain }).end();
    });
    const port = await listen(server);
    onTestFinished(() => void server.close());
    const fixture = fixtureOf(stubTracer('at once'), {
      secrets: await secrets(),
      resolver: loopbackResolver,
    });
    const request = {
      url: `https://shop.test:${port}/`,
      skipSSL: true,
      headers: [{ key: 'x-plain', value: '{{TOKEN}}' }],
    };
    await fixture.run(checkOf('API', { retryStrategy: null, doubleCheck: false, request }));
    expect(asked).toBe(2);
    expect(fixture.capturer.filters).toHaveLength(1);
    expect(capturesOf(fixture)).toBe(0);
    expect(storyOf(fixture)).toContain(LINE.replace('No capture', 'The capture is not saved'));
  });
});
