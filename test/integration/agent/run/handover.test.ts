import { describe, expect, it, onTestFinished } from 'vitest';
import type { RetryOffer } from '../../../../src/agent/run/handover.ts';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import { runFixture, SLOT_MS } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

const ELSEWHERE = {
  privateLocations: ['north', 'south'],
  retryStrategy: { type: 'FIXED', baseBackoffSeconds: 60, maxRetries: 2, sameRegion: false },
};

async function refused(): Promise<{ hostname: string; port: number }> {
  const { port, close } = await refusingPort();
  onTestFinished(close);
  return { hostname: '127.0.0.1', port };
}

/** The service as the other locations: the offers that it got, and its answer. */
function others(answer: (retry: RetryOffer, signal: AbortSignal) => Promise<boolean> | boolean) {
  const offers: RetryOffer[] = [];
  const handover = {
    offer: async (retry: RetryOffer, signal: AbortSignal) => {
      offers.push(retry);
      return answer(retry, signal);
    },
  };
  return { offers, handover };
}

describe('a retry for another location', () => {
  it('is offered with everything needed to continue, after its attempt was reported', async () => {
    const clock = new FakeClock();
    let told = 0;
    const { offers, handover } = others(() => {
      told = fixture.results.length;
      return true;
    });
    const fixture = runFixture({ clock, parts: { handover, location: () => 'north' } });
    const startedAtMs = clock.wallMs();
    const check = checkOf('TCP', { request: await refused(), ...ELSEWHERE });
    await fixture.run(check);
    expect(told).toBe(1);
    expect(fixture.results).toMatchObject([
      { resultType: 'ATTEMPT', attempts: 0, runLocation: 'north' },
    ]);
    expect(fixture.missed).toEqual([]);
    expect(offers).toEqual([
      {
        checkId: check.id,
        slotMs: SLOT_MS,
        sequenceId: sequenceIdOf(check.id, 'north', SLOT_MS),
        retriesMade: 1,
        firstStartedAtMs: startedAtMs,
        notBeforeMs: startedAtMs + 60_000,
      },
    ]);
    expect(fixture.results[0]?.sequenceId).toBe(offers[0]?.sequenceId);
    // Nothing remains to run here.
    await clock.advance(600_000);
    expect(fixture.results).toHaveLength(1);
  });

  it('is made here after the rest of its delay if no location takes it', async () => {
    const clock = new FakeClock();
    let refuse = (_taken: false): void => {};
    const refusal = new Promise<boolean>((resolve) => {
      refuse = resolve;
    });
    const { offers, handover } = others(() => refusal);
    const fixture = runFixture({ clock, parts: { handover } });
    const ended = fixture.run(checkOf('TCP', { request: await refused(), ...ELSEWHERE }));
    await eventually(() => offers.length === 1);
    await clock.advance(5_000);
    refuse(false);
    await clock.advance(54_999);
    expect(fixture.results).toHaveLength(1);
    await clock.advance(1);
    await fixture.resultCount(2);
    await eventually(() => offers.length === 2);
    await clock.advance(60_000);
    await ended;
    expect(fixture.results.map(({ resultType, attempts }) => [resultType, attempts])).toEqual([
      ['ATTEMPT', 0],
      ['ATTEMPT', 1],
      ['FINAL', 2],
    ]);
    expect(offers.map(({ retriesMade }) => retriesMade)).toEqual([1, 2]);
  });

  it('is offered for doubleCheck', async () => {
    const { offers, handover } = others(() => true);
    const fixture = runFixture({ clock: new FakeClock(), parts: { handover } });
    const locations = ['eu-west-1', 'us-east-1'];
    await fixture.run(checkOf('TCP', { request: await refused(), locations }));
    expect(offers).toMatchObject([{ retriesMade: 1 }]);
    expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['ATTEMPT']);
  });

  it.each([
    ['there is one location only', { ...ELSEWHERE, privateLocations: ['north', 'north'] }],
    ['there is none', { ...ELSEWHERE, privateLocations: null }],
    [
      'it is to stay in its location',
      { ...ELSEWHERE, retryStrategy: { ...ELSEWHERE.retryStrategy, sameRegion: true } },
    ],
  ])('is not offered where %s', async (_, fields) => {
    const clock = new FakeClock();
    const { offers, handover } = others(() => true);
    const fixture = runFixture({ clock, parts: { handover } });
    const ended = fixture.run(checkOf('TCP', { request: await refused(), ...fields }));
    for (const count of [1, 2]) {
      await fixture.resultCount(count);
      await clock.advance(60_000);
    }
    await ended;
    expect(offers).toEqual([]);
    expect(fixture.results.at(-1)).toMatchObject({ resultType: 'FINAL', attempts: 2 });
  });

  it('is offered if its group may have more locations', async () => {
    const { offers, handover } = others(() => true);
    const fixture = runFixture({ clock: new FakeClock(), parts: { handover } });
    const fields = { ...ELSEWHERE, privateLocations: null, groupId: 7 };
    await fixture.run(checkOf('TCP', { request: await refused(), ...fields }));
    expect(offers).toHaveLength(1);
  });

  it('is not offered if no retry is due', async () => {
    const { offers, handover } = others(() => true);
    const fixture = runFixture({ clock: new FakeClock(), parts: { handover } });
    const target = await listenTcp((socket) => socket.end());
    onTestFinished(() => target.close());
    await fixture.run(checkOf('TCP', { request: { port: target.port }, ...ELSEWHERE }));
    const none = { ...ELSEWHERE, retryStrategy: null };
    await fixture.run(checkOf('TCP', { request: await refused(), ...none }));
    expect(offers).toEqual([]);
    expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['FINAL', 'FINAL']);
  });

  it('has no permit while it is offered, and needs none to end', async () => {
    const clock = new FakeClock();
    let answer = (_taken: boolean): void => {};
    const answered = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const { offers, handover } = others(() => answered);
    const fixture = runFixture({ clock, concurrency: 1, parts: { handover } });
    const failing = checkOf('TCP', { id: 'down', request: await refused(), ...ELSEWHERE });
    const ended = fixture.run(failing);
    await eventually(() => offers.length === 1);
    // A run that takes the only permit and releases it when the test says so.
    const server = await listenTcp((socket) => void socket.resume());
    onTestFinished(() => server.close());
    const stop = new AbortController();
    const slow = checkOf('URL', {
      id: 'slow',
      request: { url: `http://127.0.0.1:${server.port}/` },
    });
    const slowEnded = fixture.run(slow, stop.signal);
    await eventually(() => server.accepted === 1);
    answer(true);
    await ended;
    stop.abort();
    await slowEnded;
    expect(fixture.missed).toMatchObject([{ checkId: 'slow' }]);
  });

  it('is made here if the handover fails', async () => {
    const { handover } = others(() => Promise.reject(new Error('ours')));
    const fixture = runFixture({ clock: new FakeClock(), parts: { handover } });
    const locations = ['eu-west-1', 'us-east-1'];
    await fixture.run(checkOf('TCP', { request: await refused(), locations }));
    expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['ATTEMPT', 'FINAL']);
    expect(fixture.logRecords()).toMatchObject([{ level: 'error' }]);
  });

  it('is missed if the agent stops during the offer', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const { handover } = others((_retry, signal) => {
      stop.abort();
      return !signal.aborted;
    });
    const fixture = runFixture({ clock, parts: { handover } });
    await fixture.run(checkOf('TCP', { request: await refused(), ...ELSEWHERE }), stop.signal);
    expect(fixture.missed).toMatchObject([{ reason: 'agent_stopped', slot: SLOT_MS }]);
  });
});

describe('a one-off', () => {
  const sequenceId = sequenceIdOf('a-check', 'north', SLOT_MS);

  it('continues the run of another location with its sequence id', async () => {
    const clock = new FakeClock();
    const { offers, handover } = others(() => false);
    const fixture = runFixture({ clock, parts: { handover, location: () => 'south' } });
    const firstStartedAtMs = clock.wallMs() - 100_000;
    const ended = fixture.run(
      checkOf('TCP', { request: await refused(), ...ELSEWHERE }),
      new AbortController().signal,
      { sequenceId, retriesMade: 1, firstStartedAtMs },
    );
    await eventually(() => offers.length === 1);
    await clock.advance(60_000);
    await ended;
    expect(fixture.results).toMatchObject([
      { resultType: 'ATTEMPT', attempts: 1, sequenceId, runLocation: 'south' },
      { resultType: 'FINAL', attempts: 2, sequenceId, checkRunId: SLOT_MS },
    ]);
    expect(offers).toMatchObject([{ sequenceId, retriesMade: 2, firstStartedAtMs }]);
    expect(new Set(fixture.results.map(({ id }) => id)).size).toBe(2);
  });

  it('counts maxDurationSeconds from the first attempt of all', async () => {
    const clock = new FakeClock();
    const fixture = runFixture({ clock });
    const retryStrategy = { ...ELSEWHERE.retryStrategy, maxRetries: 9, maxDurationSeconds: 120 };
    await fixture.run(
      checkOf('TCP', { request: await refused(), retryStrategy }),
      new AbortController().signal,
      { sequenceId, retriesMade: 1, firstStartedAtMs: clock.wallMs() - 60_001 },
    );
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', attempts: 1 }]);
  });

  it('treats a first attempt in the future of this clock as one of now', async () => {
    const clock = new FakeClock();
    const fixture = runFixture({ clock });
    const retryStrategy = { ...ELSEWHERE.retryStrategy, maxRetries: 9, maxDurationSeconds: 59 };
    await fixture.run(
      checkOf('TCP', { request: await refused(), retryStrategy }),
      new AbortController().signal,
      { sequenceId, retriesMade: 1, firstStartedAtMs: clock.wallMs() + 600_000 },
    );
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', attempts: 1 }]);
  });

  it('is logged if it fails by a fault of the agent, and is no missed slot', async () => {
    const fixture = runFixture({ clock: new FakeClock() });
    const request = await refused();
    await fixture.run(checkOf('TCP', { request }), AbortSignal.abort(), { sequenceId });
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toEqual([]);
    expect(fixture.logRecords()).toMatchObject([{ level: 'warn', reason: 'agent_stopped' }]);
  });
});
