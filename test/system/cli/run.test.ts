import { EventEmitter, once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { type Ended, runCli, runHere, startCli } from '../../support/agent/cli.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { servedBy } from '../../support/servers/http-servers.ts';

const AT_ONCE = 80;
/** The response time of the target for each slow check. */
const HELD_MS = 200;
/** startedAt and the wall clock have whole milliseconds. */
const ROUNDING_MS = 2;
/** How long the target takes for /slow: far longer than this process ever waits for a CPU. */
const SLOW_MS = 300;

const answering: RequestListener = (request, response) => {
  if (request.url === '/slow') {
    setTimeout(() => response.end(), SLOW_MS);
    return;
  }
  response.statusCode = request.url === '/missing' ? 404 : 200;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ state: 'up', evil: '\u001b[2J' }));
};

function fileOf(...checks: readonly object[]): string {
  return fileWith({ checks });
}

/** A check file as JSON, which is YAML too. */
function fileWith(sections: Readonly<Record<string, readonly object[]>>): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('checks.yaml'), JSON.stringify(sections));
  return folder.file('checks.yaml');
}

const url = (id: string, target: string, fields: object = {}) => ({
  id,
  checkType: 'URL',
  doubleCheck: false,
  request: { url: target },
  ...fields,
});

/** Rejects with the output of the program if it ends too early. */
async function failAtEnd(ended: Promise<Ended>): Promise<never> {
  const { code, stdout, stderr } = await ended;
  throw new Error(`it ended early with ${code}: ${stdout}${stderr}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

function objects(text: string): readonly Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('vedette run', () => {
  it('exits with 0 where all checks pass, slow ones among them', async () => {
    const base = await servedBy(answering);
    const file = fileOf(url('one', base), url('slow', `${base}/slow`, { degradedResponseTime: 1 }));
    const { code, stdout, stderr } = await runHere(['run', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^PASS {4}one {2}URL {2}status 200 {2}[\d.]+ ms/m);
    expect(stdout).toMatch(/^SLOW {4}slow .*\n {8}[\d.]+ ms, over 1 ms: degraded$/m);
    expect(stdout).toMatch(/\n\n2 checks in [\d.]+ m?s: 1 passed, 1 slow\n$/);
  });

  it('exits with 1 where one fails, and says why', async () => {
    const base = await servedBy(answering);
    const api = {
      ...url('api', base),
      checkType: 'API',
      request: {
        url: base,
        assertions: [
          { source: 'JSON_BODY', property: '$.state', comparison: 'EQUALS', target: 'down' },
          { source: 'JSON_BODY', property: '$.evil', comparison: 'EQUALS', target: 'good' },
        ],
      },
    };
    const { code, stdout } = await runHere(['run', fileOf(api, url('missing', `${base}/missing`))]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {4}api .*\n {8}expected \$\.state of the body to equal "?down"?, .*up/m,
    );
    expect(stdout).toMatch(
      /^FAIL {4}missing .*status 404.*\n {8}status 404; under 400 is needed$/m,
    );
    expect(stdout).toMatch(/2 checks in .*: 0 passed, 2 failed\n$/);
    expect(stdout).not.toContain('\u001b');
  });

  it('runs the scripts of the group of a check, and fails where they are in a snippet', async () => {
    const tokens: unknown[] = [];
    const base = await servedBy((request, response) => {
      tokens.push(request.headers['x-token']);
      response.end();
    });
    const api = (id: string, groupId: string) => ({ ...url(id, base), checkType: 'API', groupId });
    const file = fileWith({
      groups: [
        { id: 'shop', setupScript: "request.headers['x-token'] = 'of the group'" },
        { id: 'snippets', setupSnippetId: 7 },
      ],
      checks: [api('orders', 'shop'), api('prices', 'snippets')],
    });
    const { code, stdout } = await runCli(['run', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^PASS {4}orders /m);
    expect(stdout).toMatch(/^FAIL {4}prices /m);
    expect(stdout).toContain('The check or its group names a snippet');
    expect(tokens).toEqual(['of the group']);
  });

  it('makes the retries of a check, or leaves them out', async () => {
    const base = await servedBy(answering);
    const retryStrategy = { type: 'FIXED', baseBackoffSeconds: 0, maxRetries: 2 };
    const file = fileOf(url('missing', `${base}/missing`, { retryStrategy }));
    const { code, stdout, stderr } = await runHere(['run', file]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.match(/^RETRY /gm)).toHaveLength(2);
    expect(stdout).toMatch(/^FAIL .*after 2 retries/m);
    const single = await runHere(['run', file, '--no-retries']);
    expect(single.code).toBe(1);
    expect(single.stdout).not.toContain('RETRY');
  });

  it('writes one result object a line with --output json, and nothing else', async () => {
    const base = await servedBy(answering);
    const retryStrategy = { type: 'FIXED', baseBackoffSeconds: 0, maxRetries: 1 };
    const file = fileOf(
      url('one', base, { name: 'The first' }),
      url('missing', `${base}/missing`, { retryStrategy }),
      url('off', base, { activated: false }),
    );
    const { code, stdout, stderr } = await runCli(['run', file, '--output', 'json']);
    expect(code).toBe(1);
    expect(stderr).toBe('SKIPPED not activated: off (run one with --check ID)\n');
    const results = objects(stdout);
    expect(results.filter(({ checkId }) => checkId === 'one')).toEqual([
      expect.objectContaining({
        resultType: 'FINAL',
        name: 'The first',
        checkType: 'URL',
        hasFailures: false,
        runLocation: 'local',
      }),
    ]);
    expect(
      results.filter(({ checkId }) => checkId === 'missing').map(({ resultType }) => resultType),
    ).toEqual(['ATTEMPT', 'FINAL']);
    expect(results).toHaveLength(3);
  });

  it.runIf(process.platform === 'linux')(
    'reports of 80 checks at once the times of their target, not of its own work',
    async () => {
      const answers = new Map<string, { readonly heldMs: number; readonly sentMs: number }>();
      const base = await servedBy(({ url: path = '' }, response) => {
        const cameMs = performance.now();
        setTimeout(() => {
          const heldMs = performance.now() - cameMs;
          response.end(() => answers.set(path, { heldMs, sentMs: Date.now() }));
        }, HELD_MS);
      });
      const untimed = { degradedResponseTime: null, maxResponseTime: null };
      const ids = Array.from({ length: AT_ONCE }, (_, n) => `check-${n}`);
      const file = fileOf(...ids.map((id) => url(id, `${base}/${id}`, untimed)));
      const { code, stdout, stderr } = await runCli(['run', file, '--output', 'json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const results = objects(stdout) as unknown as readonly CheckResult[];
      expect(new Set(results.map(({ checkId }) => checkId))).toEqual(new Set(ids));
      const endedLateMs = results.map(({ checkId, startedAt, responseTime, apiCheckResult }) => {
        const { heldMs = NaN, sentMs = NaN } = answers.get(`/${checkId}`) ?? {};
        const uncertaintyMs = apiCheckResult?.timing?.uncertaintyMs ?? NaN;
        expect(responseTime + ROUNDING_MS).toBeGreaterThanOrEqual(heldMs);
        return Date.parse(startedAt) + responseTime - uncertaintyMs - sentMs;
      });
      // The times end when the target answered, however late the agent saw that. The event loop takes
      // some of them, and does not see all of its own lateness.
      expect(median(endedLateMs)).toBeLessThanOrEqual(ROUNDING_MS);
    },
  );

  it('runs nothing where the file has the mask of API answers, and names the field', async () => {
    let requests = 0;
    const base = await servedBy((_, response) => {
      requests += 1;
      response.end();
    });
    const headers = [{ key: 'Authorization', value: '********' }];
    const api = { ...url('api', base), checkType: 'API', request: { url: base, headers } };
    const { code, stdout, stderr } = await runHere(['run', fileOf(api)]);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
    expect(stderr).toMatch(
      /checks\[0\]\.request\.headers\[0\]\.value of check "api" must not contain \*{8}: API answers show it/,
    );
  });

  it('runs the checks that are named, activated or not', async () => {
    const base = await servedBy(answering);
    const file = fileOf(url('one', base), url('off', base, { activated: false }), url('two', base));
    const all = await runHere(['run', file]);
    expect(all.stdout).toContain('SKIPPED not activated: off');
    const named = await runHere(['run', file, '--check', 'two', '--check', 'off', '--output=json']);
    expect(named.code).toBe(0);
    expect(objects(named.stdout).map(({ checkId }) => checkId)).toEqual(
      expect.arrayContaining(['off', 'two']),
    );
    expect(objects(named.stdout)).toHaveLength(2);
  });

  it('colours a pipe only where FORCE_COLOR is set', async () => {
    const file = fileOf(url('one', await servedBy(answering)));
    expect((await runHere(['run', file])).stdout).not.toContain('\u001b[');
    expect((await runHere(['run', file], { FORCE_COLOR: '1' })).stdout).toContain('\u001b[32mPASS');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops cleanly on %s', async (signal, exitCode) => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const { child, ended } = startCli(['run', fileOf(url('mute', `http://127.0.0.1:${port}/`))]);
    await Promise.race([once(server, 'request'), failAtEnd(ended)]);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: '' });
    expect(stdout).toMatch(
      /^MISSED {2}mute {2}slot [\d:]{8}: .* \(agent_stopped\)\n\n1 check in .*: 0 passed, 1 missed\n$/,
    );
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const requests = new EventEmitter<Record<'held', [ServerResponse]>>();
    const held = once(requests, 'held') as Promise<[ServerResponse]>;
    const base = await servedBy((request, response) => {
      if (request.url === '/one') response.end();
      if (request.url === '/held') requests.emit('held', response);
    });
    const checks = ['one', 'held', 'mute'].map((id) => url(id, `${base}/${id}`));
    const { child, ended, seen } = startCli(['run', fileOf(...checks)]);
    await seen('stdout', /PASS {4}one/);
    child.stdout?.destroy();
    // The first result may be printed before the second request is sent.
    const [response] = await Promise.race([held, failAtEnd(ended)]);
    response.end();
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
  });
});

describe('stdout that cannot be written', () => {
  it.runIf(process.platform === 'linux')('is reported, and success is not claimed', async () => {
    const file = fileOf(url('one', await servedBy(answering)));
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const { code, stderr } = await startCli(['validate', file], {}, full).ended;
    expect(code).toBe(2);
    expect(stderr).toBe('vedette: stdout cannot be written (ENOSPC): output is lost\n');
  });
});
