import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SharedBodyMemory } from '../../../../src/agent/probes/http/body/body-memory.ts';
import type { CheckTypeRunners } from '../../../../src/agent/run/check-types/check-type.ts';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import type { PooledOutcome, ScriptPool } from '../../../../src/agent/scripts/script-pool.ts';
import type { ScriptHost, ScriptJob } from '../../../../src/agent/scripts/script-thread.ts';
import { type RunFixture, runFixture } from '../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { agentSecretsOf } from '../../../support/samples/secrets.ts';
import { listening, listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

/** Faults of the agent in scripts must neither blame a target nor hide its outage. */

const ONCE = { retryStrategy: null };
const SCRIPT = '// What it does is decided by the pool of the test.';

/** The run pipeline with scripts that end as the test says. */
async function scriptedBy(
  run: ScriptPool['run'],
  parts: Partial<RunnerParts> = {},
  clock = new FakeClock(),
): Promise<RunFixture> {
  const scripts = { pool: { run, close: async () => {} }, isEnabled: true };
  return runFixture({ clock, parts: { secrets: await agentSecretsOf(), ...parts, scripts } });
}

function passedBy({ input: { request } }: ScriptJob): PooledOutcome {
  return { kind: 'passed', result: { request, variables: [] } };
}

/** Lets the time of the pauses between repeats pass. */
async function untilOver(run: Promise<void>, clock: FakeClock): Promise<void> {
  let isOver = false;
  const over = run.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(250);
  await over;
}

async function answering(status: number, body = 'fine'): Promise<string> {
  const server = createServer((_request, response) => {
    response.statusCode = status;
    response.end(body);
  });
  const started = await listening(server, '127.0.0.1');
  onTestFinished(() => started.close());
  return `http://127.0.0.1:${started.port}/`;
}

async function refusing(): Promise<string> {
  const started = await refusingPort();
  onTestFinished(() => started.close());
  return `http://127.0.0.1:${started.port}/`;
}

/** Asks a URL as a script does, and fails. */
async function asks(url: string, job: ScriptJob, host: ScriptHost): Promise<PooledOutcome> {
  await host.fetch({ url, method: 'GET', headers: [], query: [], body: '' }, job.signal);
  const message = 'TypeError: cannot read property of null';
  return { kind: 'failed', code: 'SCRIPT_FAILED', message, line: 1, isBroken: false };
}

describe('a script that fails after a request of its own', () => {
  const http = httpRunner<'API'>({ clientCertificates: () => [], proxyUrl: () => null });

  it.each<[string, typeof http.probe, number]>([
    ['throws', () => Promise.reject(new TypeError('no such thing')), 1],
    [
      'ends with a fault',
      async (check) => http.broken(check, { code: 'INTERNAL_ERROR', message: 'no socket is left' }),
      0,
    ],
  ])('is an error of the agent if its probe %s', async (_, probe, logged) => {
    const checkTypes = { API: { ...http, probe } } as unknown as CheckTypeRunners;
    const url = 'http://127.0.0.1/';
    const fixture = await scriptedBy((job, host) => asks(url, job, host), { checkTypes });
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript: SCRIPT }));
    expect(fixture.results).toMatchObject([
      {
        hasErrors: true,
        hasFailures: false,
        apiCheckResult: {
          requestErrorCode: 'INTERNAL_ERROR',
          requestError: expect.stringContaining('The setup script of the check failed in line 1'),
        },
      },
    ]);
    expect(fixture.logRecords().filter(({ level }) => level === 'error')).toHaveLength(logged);
  });

  it('does not count if there was no memory for the response', async () => {
    const text = 'This is long. '.repeat(10_000);
    const url = await answering(200, text);
    const bodyRoom = new SharedBodyMemory(text.length);
    const others = bodyRoom.open(true);
    others.take(text.length, 'assertions');
    let scripts = 0;
    const fixture = await scriptedBy(
      async (job, host) => {
        scripts += 1;
        return scripts === 1 ? await asks(url, job, host) : passedBy(job);
      },
      { bodyRoom },
    );
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript: SCRIPT }));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toMatchObject([{ hasFailures: false, hasErrors: false }]);
    expect([scripts, fixture.starved]).toEqual([2, 0]);
  });

  it('fails its check if the target was at fault', async () => {
    const url = await refusing();
    const fixture = await scriptedBy((job, host) => asks(url, job, host));
    await fixture.run(checkOf('API', { ...ONCE, request: { url }, setupScript: SCRIPT }));
    expect(fixture.results).toMatchObject([
      { hasFailures: true, apiCheckResult: { requestErrorCode: 'SCRIPT_FAILED' } },
    ]);
  });
});

describe('a script that fails after the agent stood still in its request', () => {
  /** The first script sends a request, blocks the agent and fails. Later scripts pass. */
  async function ranWith(target: string) {
    const clock = new FakeClock();
    let scripts = 0;
    const run: ScriptPool['run'] = async (job, host) => {
      scripts += 1;
      job.onStart?.();
      if (scripts > 1) return passedBy(job);
      const failed = await asks(target, job, host);
      await clock.stall(4000);
      return failed;
    };
    const fixture = await scriptedBy(run, {}, clock);
    const request = { url: await answering(200) };
    await fixture.run(checkOf('API', { ...ONCE, request, setupScript: SCRIPT }));
    return fixture;
  }

  it('does not count if the target closed the connection', async () => {
    const closing = await listenTcp((socket) => void socket.destroy());
    onTestFinished(() => closing.close());
    const fixture = await ranWith(`http://127.0.0.1:${closing.port}/`);
    expect(fixture.starved).toBe(1);
    expect(fixture.results).toMatchObject([{ hasFailures: false, hasErrors: false }]);
  });

  it('counts if the target refused the connection', async () => {
    const fixture = await ranWith(await refusing());
    expect(fixture.starved).toBe(0);
    expect(fixture.results).toMatchObject([{ hasFailures: true, hasErrors: false }]);
  });
});

describe('a script that is ended at its time limit', () => {
  it.each([
    ['fails its check', 0, 1, true],
    ['does not count if the agent stood still in it', 4000, 2, false],
  ])('%s', async (_, stallMs, attempts, hasFailures) => {
    const clock = new FakeClock();
    let scripts = 0;
    const fixture = await scriptedBy(
      async (job) => {
        scripts += 1;
        job.onStart?.();
        if (scripts > 1) return passedBy(job);
        if (stallMs > 0) await clock.stall(stallMs);
        return { kind: 'timed-out' };
      },
      {},
      clock,
    );
    const request = { url: await answering(200) };
    await fixture.run(checkOf('API', { ...ONCE, request, setupScript: SCRIPT }));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toMatchObject([{ hasFailures, hasErrors: false }]);
    expect([scripts, fixture.starved]).toEqual([attempts, attempts - 1]);
  });

  it('counts although the agent stood still while it waited for a worker', async () => {
    const clock = new FakeClock();
    const run: ScriptPool['run'] = async (job) => {
      await clock.stall(4000);
      job.onStart?.();
      return { kind: 'timed-out' };
    };
    const fixture = await scriptedBy(run, {}, clock);
    await fixture.run(checkOf('API', { ...ONCE, setupScript: SCRIPT }));
    expect(fixture.results).toMatchObject([
      { hasFailures: true, apiCheckResult: { requestErrorCode: 'SCRIPT_TIMEOUT' } },
    ]);
    expect(fixture.starved).toBe(0);
  });

  it('hides no outage as a teardown, though the agent stood still in it', async () => {
    const clock = new FakeClock();
    const run: ScriptPool['run'] = async (job) => {
      job.onStart?.();
      await clock.stall(4000);
      return { kind: 'timed-out' };
    };
    const fixture = await scriptedBy(run, {}, clock);
    const request = { url: await answering(503) };
    await fixture.run(checkOf('API', { ...ONCE, request, teardownScript: SCRIPT }));
    expect(fixture.results).toMatchObject([
      { hasFailures: true, apiCheckResult: { requestErrorCode: null } },
    ]);
    expect(fixture.starved).toBe(0);
  });
});

describe('a script without a worker', () => {
  const noWorker: ScriptPool['run'] = async () => ({ kind: 'no-worker' });

  it.each([
    ['refuses the connection', refusing, 'CONNECT_REFUSED'],
    ['answers with an error', () => answering(503), null],
  ])('hides no outage as a teardown: the target %s', async (_, target, requestErrorCode) => {
    const fixture = await scriptedBy(noWorker);
    const request = { url: await target() };
    await fixture.run(checkOf('API', { ...ONCE, request, teardownScript: SCRIPT }));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toMatchObject([
      { hasFailures: true, hasErrors: false, apiCheckResult: { requestErrorCode } },
    ]);
    const jobLog = fixture.results[0]?.apiCheckResult?.jobLog.map(({ msg }) => msg).join('\n');
    expect(jobLog).toContain('all workers for scripts are busy (SCRIPT_WORKERS)');
  });

  it('is missed as work of a busy agent, not as one that is short of CPU', async () => {
    let starved = 0;
    const loadShedding: RunnerParts['loadShedding'] = {
      sheds: () => false,
      shedsRunOf: () => false,
      hadNoVerdict: () => {},
      starved: () => {
        starved += 1;
      },
    };
    const clock = new FakeClock();
    const fixture = await scriptedBy(noWorker, { loadShedding }, clock);
    const run = fixture.run(checkOf('API', { ...ONCE, setupScript: SCRIPT }));
    await untilOver(run, clock);
    expect(fixture.results).toEqual([]);
    expect(fixture.missed).toMatchObject([{ reason: 'agent_busy', count: 1 }]);
    expect([fixture.starved, starved]).toEqual([0, 0]);
  });

  it('is repeated, and the job log says why', async () => {
    let asked = 0;
    const fixture = await scriptedBy(async (job, host) => {
      asked += 1;
      return asked === 1 ? await noWorker(job, host) : passedBy(job);
    });
    const request = { url: await answering(200) };
    await fixture.run(checkOf('API', { ...ONCE, request, setupScript: SCRIPT }));
    expect(fixture.results).toMatchObject([{ hasFailures: false, hasErrors: false }]);
    expect(fixture.results[0]?.apiCheckResult?.jobLog[0]?.msg).toContain('the agent was too busy');
  });
});
