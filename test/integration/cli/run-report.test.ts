import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { shownResult } from '../../support/samples/shown-result.ts';
import { servedBy } from '../../support/servers/http-servers.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

/** All paths but `/missing` pass. The body of `/bytes` is in the result as base64. */
const target: RequestListener = (request, response) => {
  response.statusCode = request.url === '/missing' ? 404 : 200;
  response.setHeader('__proto__', 'a name that no service takes as a key');
  const isBytes = request.url === '/bytes';
  response.setHeader('content-type', isBytes ? 'application/octet-stream' : 'text/plain');
  response.end(isBytes ? Buffer.alloc(50_000, 0xff) : 'ok');
};

function fileOf(...checks: readonly object[]): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('checks.yaml'), JSON.stringify({ checks }));
  return folder.file('checks.yaml');
}

const url = (id: string, address: string) => ({
  id,
  checkType: 'URL',
  doubleCheck: false,
  request: { url: address },
});

const KEY = `vk_${'1'.repeat(32)}`;

describe('vedette run --report', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env: Readonly<Record<string, string>> = {};
  let base = '';

  beforeEach(async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ci', role: 'run' });
    env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    base = await servedBy(target);
  });

  it('sends the results that it prints to the service, as one session', async () => {
    const file = fileOf(url('good', `${base}/0`), url('bad', `${base}/missing`));
    const facts = ['--project', 'shop', '--session-name', 'Nightly', '--environment', 'staging'];
    const args = ['run', file, '--output', 'json', '--report', ...facts];
    const { code, stdout, stderr } = await runHere(args, env);
    expect(code).toBe(1);
    const link = /^reported as (http:\S+)\n$/.exec(stderr)?.[1] ?? '';
    expect(link.startsWith(`${env.SERVICE_URL}/v1/test-sessions/`)).toBe(true);
    const { mine } = service();
    const session = (await mine.get(new URL(link).pathname)).json;
    expect(session).toMatchObject({
      ...{ name: 'Nightly', projectId: 'shop', environment: 'staging', hasFailures: true },
      counts: { passed: 1, degraded: 0, failed: 1, error: 0, cancelled: 0, missed: 0 },
    });
    const stored = (await mine.get(`${session.link}/results`)).json;
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line, (key, value) => (key === '__proto__' ? undefined : value)));
    const errorGroupIds = (id: string) => (id === 'bad' ? session.errorGroupIds : []);
    const wanted = printed.map((one) =>
      shownResult({ ...one, errorGroupIds: errorGroupIds(one.checkId) }),
    );
    const byCheck = (one: object, other: object) =>
      JSON.stringify(one, ['checkId']) < JSON.stringify(other, ['checkId']) ? -1 : 1;
    expect(stored.toSorted(byCheck)).toEqual(wanted.toSorted(byCheck));
    const groups = (await mine.get('/v1/test-session-error-groups/projects/shop')).json;
    expect(groups).toMatchObject([
      { rawErrorMessage: 'status 404; under 400 is needed', environments: ['staging'] },
    ]);
  });

  it('needs no more than one request for a few results, and says nothing on stdout', async () => {
    const file = fileOf(url('good', `${base}/0`));
    const { code, stdout, stderr } = await runHere(['run', file, '--report'], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain('test-sessions');
    expect(stderr).toMatch(/^reported as \S+\n$/);
    const [session] = (await service().mine.get('/v1/test-sessions')).json;
    expect(session).toMatchObject({ name: null, results: 1, updated_at: null });
  });

  it('is sent in parts if it is too long for one request', async () => {
    const ids = Array.from({ length: 80 }, (_, n) => n);
    const file = fileOf(
      ...ids.map((n) => url(`c${n}`, `${base}/${n === 0 ? 'missing' : 'bytes'}`)),
    );
    const { code } = await runHere(['run', file, '--report'], env);
    expect(code).toBe(1);
    const [session, ...others] = (await service().mine.get('/v1/test-sessions')).json;
    expect(others).toEqual([]);
    expect(session).toMatchObject({ results: 80, counts: { passed: 79, failed: 1 } });
    expect(session.errorGroupIds).toHaveLength(1);
    // The second part comes after the first.
    expect(session.updated_at).not.toBeNull();
  });

  it('reports a refused key on one line, and keeps the exit code of the run', async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'r', role: 'read' });
    const reader = { ...env, API_KEY: key };
    const passing = fileOf(url('good', `${base}/0`));
    const one = await runHere(['run', passing, '--report'], reader);
    expect(one.code).toBe(2);
    expect(one.stdout).toContain('1 passed');
    expect(one.stderr).toMatch(
      /^vedette: the run is not reported: the service at .*; use a key with the role run\n$/,
    );
    const failing = fileOf(url('bad', `${base}/missing`));
    const other = await runHere(['run', failing, '--report'], reader);
    expect(other.code).toBe(1);
    expect(other.stderr.split('\n')).toHaveLength(2);
  });

  it.each<[readonly string[], Readonly<Record<string, string>>, RegExp]>([
    [['--report'], {}, /^vedette: SERVICE_URL is not set; /],
    [['--report'], { SERVICE_URL: 'http://h' }, /^vedette: neither API_KEY nor .* the role run: /],
    [['--project', 'a'], {}, /^vedette: --project is for a report: add --report\n/],
    [['--report', '--project', 'a b'], {}, /^vedette: --project must be 1 to 100 letters/],
    [
      ['--report', '--environment', 'x'.repeat(101)],
      {},
      /^vedette: --environment is longer than 100 characters\n/,
    ],
  ])('%j with %j ends before anything runs', async (options, variables, line) => {
    let asked = 0;
    const counted = await servedBy((_, response) => {
      asked += 1;
      response.end();
    });
    const args = ['run', fileOf(url('good', counted)), ...options];
    const { code, stdout, stderr } = await runHere(args, variables);
    expect({ code, stdout, asked }).toEqual({ code: 2, stdout: '', asked: 0 });
    expect(stderr).toMatch(line);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});

describe('vedette run --report with a service that is not well', () => {
  const runWith = async (
    SERVICE_URL: string,
    onRun: (signals: NodeJS.EventEmitter) => void = () => {},
  ) => {
    const { terminal, stdout, stderr } = memoryTerminal();
    onRun(terminal.signals);
    const real = { ...terminal, clock: systemClock, env: { SERVICE_URL, API_KEY: KEY } };
    const code = await runProgram(
      ['run', fileOf(url('good', await servedBy(target))), '--report'],
      real,
      () => {},
    );
    return { code, stdout: stdout(), stderr: stderr() };
  };

  it('sends the same request once more if no answer came', async () => {
    const sent: unknown[] = [];
    const shaky = await servedBy(async (request, response) => {
      sent.push(await json(request));
      if (sent.length === 1) request.socket.destroy();
      else response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    });
    const { code, stderr } = await runWith(shaky);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^reported as /);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
  });

  it('waits as long as Retry-After asks', async () => {
    let refusals = 0;
    const busy = await servedBy((request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json');
      if (refusals === 2) response.writeHead(201).end('{}');
      else {
        refusals += 1;
        const body = '{"statusCode":429,"error":"Too Many Requests","message":"later"}';
        response.writeHead(429, { 'retry-after': '0' }).end(body);
      }
    });
    expect(await runWith(busy)).toMatchObject({ code: 0 });
    expect(refusals).toBe(2);
  });

  it('prints why the service refuses the report', async () => {
    const strict = await servedBy((request, response) => {
      request.resume();
      const body = '{"statusCode":400,"error":"Bad Request","message":"no \\u001b[2J"}';
      response.writeHead(400, { 'content-type': 'application/json' }).end(body);
    });
    const { code, stderr } = await runWith(strict);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'vedette: the run is not reported: the service refuses it (400): no \\u{1b}[2J\n',
    );
  });

  it('sends no interrupted run, and gives up if the upload is interrupted', async () => {
    let asked = 0;
    let signals: NodeJS.EventEmitter | null = null;
    const silent = await servedBy(() => {
      asked += 1;
      signals?.emit('SIGINT');
    });
    const { code, stdout, stderr } = await runWith(silent, (own) => {
      signals = own;
    });
    expect({ code, asked }).toEqual({ code: 130, asked: 1 });
    expect(stdout).toContain('1 passed');
    expect(stderr).toBe('vedette: the run is not reported: it was interrupted\n');
  });
});
