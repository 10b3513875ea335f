import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckTypeRunners } from '../../../../src/agent/run/check-types/check-type.ts';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

/** Answers the nth request (from 1) with the status that `answer` resolves with. */
async function httpServer(answer: (request: number) => Promise<number>) {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    void answer(requests).then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** A run whose agent stands still in every attempt, and the checks that had no verdict. */
async function standingStill() {
  const clock = new FakeClock();
  const withoutVerdict: string[] = [];
  const loadShedding: RunnerParts['loadShedding'] = {
    sheds: () => false,
    shedsRunOf: () => false,
    hadNoVerdict: (checkId) => void withoutVerdict.push(checkId),
    starved: () => {},
  };
  const fixture = runFixture({ clock, parts: { loadShedding } });
  const request = await httpServer(async () => {
    await clock.stall(4000);
    return 200;
  });
  /** The first repeat is made at once, the others after pauses. */
  const makeRepeats = async (): Promise<void> => {
    for (let starved = 2; starved <= 5; starved += 1) {
      await eventually(() => fixture.starved === starved);
      await clock.advance(2000);
    }
  };
  return { fixture, check: checkOf('URL', { request }), withoutVerdict, makeRepeats };
}

describe('the starvation guard', () => {
  it('reports a failure that lack of CPU cannot cause', async () => {
    const clock = new FakeClock();
    const fixture = runFixture({ clock });
    const request = await httpServer(async () => {
      await clock.stall(4000);
      return 503;
    });
    await fixture.run(checkOf('URL', { request, retryStrategy: null }));
    // Whether the run was slow as well is unknown.
    expect(fixture.results).toMatchObject([
      { resultType: 'FINAL', hasFailures: true, isDegraded: false, overMaxResponseTime: false },
    ]);
    expect(fixture.starved).toBe(0);
  });

  it('repeats an attempt that only seems degraded', async () => {
    const clock = new FakeClock();
    const fixture = runFixture({ clock });
    const request = await httpServer(async (n) => {
      if (n === 1) await clock.stall(4000);
      return 200;
    });
    await fixture.run(checkOf('URL', { request }));
    expect(fixture.results).toMatchObject([{ isDegraded: false, hasFailures: false }]);
  });

  it('repeats one that passes only because no answer came while the agent stood still', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    // The first attempt is cut short in the stall; the next one gets the answer.
    const server = await listenTcp((socket) => {
      attempts += 1;
      if (attempts === 1) void clock.stall(31_000).then(() => socket.destroy());
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    onTestFinished(() => server.close());
    const fixture = runFixture({ clock });
    const request = { url: `http://127.0.0.1:${server.port}/` };
    await fixture.run(checkOf('URL', { request, shouldFail: true, retryStrategy: null }));
    expect(fixture.starved).toBe(1);
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
  });

  it('reports a slow target as slow', async () => {
    const clock = new FakeClock();
    const fixture = runFixture({ clock });
    const request = await httpServer(async () => {
      await clock.advance(6000);
      return 200;
    });
    await fixture.run(checkOf('URL', { request, retryStrategy: null }));
    expect(fixture.results).toMatchObject([
      { hasFailures: true, overMaxResponseTime: true, responseTime: 6000 },
    ]);
    expect(fixture.starved).toBe(0);
  });

  it('reports the run as missed if the agent stands still in every attempt', async () => {
    const { fixture, check, withoutVerdict, makeRepeats } = await standingStill();
    const ended = fixture.run(check);
    await makeRepeats();
    await ended;
    expect(fixture.results).toEqual([]);
    expect(fixture.missed).toMatchObject([{ reason: 'agent_starved', count: 1 }]);
    expect(fixture.starved).toBe(6);
    expect(withoutVerdict).toEqual([check.id]);
  });

  it('protects no later slot from being skipped if a run on request had no verdict', async () => {
    const { fixture, check, withoutVerdict, makeRepeats } = await standingStill();
    const ended = fixture.run(check, undefined, { sequenceId: 'on-request' });
    await makeRepeats();
    await ended;
    expect(fixture.starved).toBe(6);
    expect(withoutVerdict).toEqual([]);
  });
});

describe('CONNECTIVITY_CHECK', () => {
  const target = async (up: boolean) => {
    const listening = up ? await listenTcp((socket) => socket.end()) : await refusingPort();
    onTestFinished(() => listening.close());
    return { hostname: '127.0.0.1', port: listening.port };
  };

  it('turns failures into missed slots where the agent has lost its own network', async () => {
    const fixture = runFixture({
      clock: new FakeClock(),
      connectivityTargets: [await target(false)],
    });
    await fixture.run(checkOf('TCP', { request: await target(false) }));
    expect(fixture.results).toEqual([]);
    expect(fixture.missed).toMatchObject([{ reason: 'agent_offline' }]);
  });

  it('does the same for a check with shouldFail', async () => {
    const fixture = runFixture({
      clock: new FakeClock(),
      connectivityTargets: [await target(false)],
    });
    await fixture.run(checkOf('TCP', { shouldFail: true, request: await target(false) }));
    expect(fixture.missed).toMatchObject([{ reason: 'agent_offline' }]);
  });

  it('reports a failure if one of the connectivity targets can be reached', async () => {
    const fixture = runFixture({
      clock: new FakeClock(),
      connectivityTargets: [await target(false), await target(true)],
    });
    const request = await target(false);
    await fixture.run(checkOf('TCP', { request, retryStrategy: null }));
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
    expect(fixture.missed).toEqual([]);
  });
});

describe('a stopping agent', () => {
  it('ends a run at once, as missed and not as an outage', async () => {
    const server = await listenTcp((socket) => void socket.resume());
    onTestFinished(() => server.close());
    const fixture = runFixture({ clock: new FakeClock() });
    const stop = new AbortController();
    const request = { url: `http://127.0.0.1:${server.port}/` };
    const ended = fixture.run(checkOf('URL', { request }), stop.signal);
    await eventually(() => server.accepted === 1);
    stop.abort();
    await ended;
    expect(fixture.results).toEqual([]);
    expect(fixture.missed).toMatchObject([{ reason: 'agent_stopped' }]);
    await server.allClosed();
  });
});

describe('a fault in an attempt', () => {
  it('of the probe is an error of the agent, not a failure of the target', async () => {
    const broken = {
      ...httpRunner({ clientCertificates: () => [], proxyUrl: () => null }),
      probe: () => Promise.reject(new TypeError('no such thing')),
    };
    const fixture = runFixture({
      clock: new FakeClock(),
      parts: { checkTypes: { URL: broken } as unknown as CheckTypeRunners },
    });
    // A retry would not help: a fault of the agent stays.
    await fixture.run(checkOf('URL', { doubleCheck: true }));
    expect(fixture.results).toMatchObject([
      {
        resultType: 'FINAL',
        hasErrors: true,
        hasFailures: false,
        apiCheckResult: { response: null, requestErrorCode: 'INTERNAL_ERROR' },
      },
    ]);
    expect(fixture.logRecords()).toMatchObject([{ level: 'error' }]);
  });

  it('of the evaluation of assertions is an error of the agent, too', async () => {
    const fixture = runFixture({
      clock: new FakeClock(),
      parts: {
        evaluator: {
          evaluate: () => Promise.reject(new Error('no thread')),
          close: async () => {},
        },
      },
    });
    const request = await httpServer(async () => 200);
    await fixture.run(checkOf('URL', { request, retryStrategy: null }));
    expect(fixture.results).toMatchObject([
      {
        resultType: 'FINAL',
        hasErrors: true,
        hasFailures: false,
        apiCheckResult: { requestErrorCode: 'INTERNAL_ERROR' },
      },
    ]);
    expect(fixture.logRecords()).toMatchObject([{ level: 'error' }]);
  });
});
