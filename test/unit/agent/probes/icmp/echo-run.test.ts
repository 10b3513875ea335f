import { beforeEach, describe, expect, it } from 'vitest';
import type { EchoEnd, EchoExchange } from '../../../../../src/agent/probes/icmp/echo-exchange.ts';
import { runEchoes } from '../../../../../src/agent/probes/icmp/echo-run.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  destination,
  type MemoryTransport,
  memoryExchange,
} from '../../../../support/network/memory-transport.ts';

const TARGET = destination('10.0.0.2');

let clock: FakeClock;
let exchange: EchoExchange;
let transport: MemoryTransport;

beforeEach(() => {
  clock = new FakeClock();
  ({ exchange, transport } = memoryExchange(clock));
});

/** Starts a run and collects its ends once it is over. */
function run(count: number, options: { deadlineInMs?: number; signal?: AbortSignal } = {}) {
  const context = makeContext({ clock, deadlineInMs: 30_000, ...options });
  const result: { ends: readonly EchoEnd[] | null } = { ends: null };
  const done = runEchoes(exchange, TARGET, count, context).then((ends) => {
    result.ends = ends;
  });
  return { context, result, done };
}

function answerLast(): void {
  const last = transport.sent.at(-1);
  if (last === undefined) return;
  exchange.reply({ ...last, source: TARGET.bytes, ttl: 61, waitedMs: null });
}

describe('a run of echoes', () => {
  it('sends them 500 ms apart and ends with the last reply', async () => {
    const startMs = clock.monotonicMs();
    const { result } = run(3);
    for (let echo = 0; echo < 3; echo += 1) {
      await clock.advance(20);
      answerLast();
      expect(result.ends).toBeNull();
      await clock.advance(echo === 2 ? 0 : 480);
    }
    expect(transport.sent.map(({ atMs }) => atMs - startMs)).toEqual([0, 500, 1000]);
    expect(result.ends).toEqual(
      Array(3).fill({ kind: 'answered', rttMs: 20, ttl: 61, uncertainMs: null }),
    );
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not delay the others when one send is late', async () => {
    const startMs = clock.monotonicMs();
    run(3);
    await clock.advance(0);
    await clock.stall(700);
    await clock.advance(5000);
    expect(transport.sent.map(({ atMs }) => atMs - startMs)).toEqual([0, 700, 1000]);
  });

  it('gives every echo 2 s, so that fifty unanswered ones end after 26.5 s', async () => {
    const { result } = run(50);
    await clock.advance(26_499);
    expect(result.ends).toBeNull();
    await clock.advance(1);
    expect(result.ends).toEqual(Array(50).fill({ kind: 'lost' }));
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not send an echo that could not have its full time', async () => {
    const { context, result } = run(10, { deadlineInMs: 3200 });
    await clock.advance(10_000);
    expect(transport.sent).toHaveLength(3);
    expect(result.ends).toHaveLength(3);
    expect(logText(context)).toContain('too short for the last 7 echo requests');
  });

  it('ends at the deadline with the replies so far', async () => {
    const { result } = run(1, { deadlineInMs: 300 });
    await clock.advance(299);
    expect(result.ends).toBeNull();
    await clock.advance(1);
    expect(result.ends).toEqual([{ kind: 'lost' }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reads arrived replies before it ends at the deadline', async () => {
    const { result } = run(1, { deadlineInMs: 300 });
    transport.onDrain = answerLast;
    await clock.advance(300);
    expect(result.ends).toEqual([{ kind: 'answered', rttMs: 300, ttl: 61, uncertainMs: null }]);
  });

  it('ends at once when it is aborted, and sends nothing more', async () => {
    const stop = new AbortController();
    const { done, result } = run(50, { signal: stop.signal });
    await clock.advance(600);
    stop.abort();
    await done;
    expect(result.ends).toHaveLength(2);
    expect(transport.sent).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('sends nothing if it was aborted before', async () => {
    const { done, result } = run(5, { signal: AbortSignal.abort() });
    await done;
    expect(result.ends).toEqual([]);
    expect(transport.sent).toEqual([]);
  });

  it('has the same token in all its echoes and another in the next run', async () => {
    run(2);
    await clock.advance(5000);
    run(1);
    await clock.advance(5000);
    const tokens = transport.sent.map(({ data }) => data.subarray(0, 8).toString('hex'));
    expect(tokens[0]).toBe(tokens[1]);
    expect(tokens[2]).not.toBe(tokens[0]);
  });

  it('goes on after a refused echo', async () => {
    transport.outcome = 'refused';
    const { result } = run(2);
    await clock.advance(0);
    transport.outcome = 'sent';
    await clock.advance(500);
    answerLast();
    await clock.advance(0);
    expect(result.ends?.map(({ kind }) => kind)).toEqual(['refused', 'answered']);
  });
});
