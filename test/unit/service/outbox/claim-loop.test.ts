import { describe, expect, it } from 'vitest';
import {
  type Claimed,
  ClaimLoop,
  tooManyClaims,
} from '../../../../src/service/outbox/claim-loop.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';

interface Recorded {
  readonly id: string;
  readonly result: string;
  readonly wasCut: boolean;
}

/** A loop over deliveries in memory. Each is sent when the test calls `answer`. */
function loopOver(due: string[], { failures = 0 } = {}) {
  const clock = new FakeClock();
  const logs = captureLog();
  const stop = new AbortController();
  const limits: number[] = [];
  const sending = new Map<string, (result: string) => void>();
  const recorded: Recorded[] = [];
  const ended: string[] = [];
  let left = failures;
  const loop = new ClaimLoop<Claimed, string>({
    store: { listen: async () => async () => {} },
    clock,
    log: logs.log,
    channel: 'deliveries',
    words: { all: 'deliveries', one: 'a delivery' },
    maxSending: 2,
    maxClaimed: 4,
    minClaim: 2,
    async claim({ limit }) {
      limits.push(limit);
      return due.splice(0, limit).map((id) => ({ id, attempt: 1 }));
    },
    nextDueAtMs: async () => null,
    send: ({ id }, cut) =>
      new Promise((resolve) => {
        sending.set(id, resolve);
        if (cut.aborted) resolve('cut');
        cut.addEventListener('abort', () => resolve('cut'), { once: true });
      }),
    async record({ id }, result, { wasCut }) {
      left -= 1;
      if (left >= 0) throw new Error('the database is away');
      recorded.push({ id, result, wasCut });
    },
    onEnd: ({ id }) => void ended.push(id),
  });
  const running = loop.run(stop.signal);
  const answer = async (id: string): Promise<void> => {
    sending.get(id)?.('sent');
    await clock.advance(0);
  };
  return { clock, logs, stop, running, limits, sending, recorded, ended, answer };
}

describe('a loop that claims, sends and records', () => {
  it('claims as many as there is room for, and waits until there is room for enough', async () => {
    const { clock, stop, running, limits, sending, recorded, answer } = loopOver([...'abcdefgh']);
    await clock.advance(0);
    expect(limits).toEqual([4]);
    expect([...sending.keys()]).toEqual(['a', 'b']);
    await answer('a');
    // Capacity for one.
    expect(limits).toEqual([4]);
    await answer('b');
    expect(limits).toEqual([4, 2]);
    expect(recorded.map(({ id }) => id)).toEqual(['a', 'b']);
    stop.abort();
    await clock.advance(10_000);
    await running;
  });

  it('records again after a failure, without sending again', async () => {
    const { clock, stop, running, recorded, ended, logs, answer } = loopOver(['a'], {
      failures: 2,
    });
    await clock.advance(0);
    await answer('a');
    expect(ended).toEqual([]);
    await clock.advance(4_000);
    expect(recorded).toEqual([{ id: 'a', result: 'sent', wasCut: false }]);
    expect(ended).toEqual(['a']);
    expect(logs.records()).toEqual([]);
    stop.abort();
    await clock.advance(0);
    await running;
  });

  it('leaves a delivery to its lease where the outcome cannot be recorded, and says so', async () => {
    const { clock, stop, running, recorded, ended, logs, answer } = loopOver(['a'], {
      failures: 5,
    });
    await clock.advance(0);
    await answer('a');
    await clock.advance(8_000);
    expect(recorded).toEqual([]);
    expect(ended).toEqual(['a']);
    expect(logs.records()).toMatchObject([
      {
        deliveryId: 'a',
        msg: 'could not save the outcome of a delivery, so it will be sent again: the database is away',
      },
    ]);
    stop.abort();
    await clock.advance(0);
    await running;
  });

  it('gives attempts in flight 3 s at a stop, and then cuts them', async () => {
    const { clock, stop, running, recorded, answer } = loopOver(['a', 'b']);
    await clock.advance(0);
    stop.abort();
    await clock.advance(2_999);
    await answer('a');
    expect(recorded).toEqual([{ id: 'a', result: 'sent', wasCut: false }]);
    await clock.advance(1);
    await running;
    expect(recorded[1]).toEqual({ id: 'b', result: 'cut', wasCut: true });
  });

  it('gives up a delivery that was claimed 20 times', () => {
    expect(tooManyClaims({ id: 'a', attempt: 20 })).toBe(null);
    expect(tooManyClaims({ id: 'a', attempt: 21 })).toMatchObject({ ok: false, isFinal: true });
  });
});
