import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../../src/service/database/store-errors.ts';
import { createDatabaseRetry } from '../../../../src/service/heartbeats/database-retry.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

const AWAY = new StoreError('unavailable', 'STORE_CONNECTION', 'away');

function work(...outcomes: readonly (string | Error)[]) {
  let tries = 0;
  return {
    tries: () => tries,
    async run(): Promise<string> {
      const outcome = outcomes[Math.min(tries, outcomes.length - 1)] ?? '';
      tries += 1;
      if (typeof outcome === 'string') return outcome;
      throw outcome;
    },
  };
}

describe('createDatabaseRetry', () => {
  it('retries until the database is back', async () => {
    const clock = new FakeClock();
    const { run, tries } = work(AWAY, AWAY, 'taken');
    const held = createDatabaseRetry(clock)(run);
    await clock.advance(499);
    expect(tries()).toBe(2);
    await clock.advance(1);
    expect(await held).toBe('taken');
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails after eight seconds with the last error', async () => {
    const clock = new FakeClock();
    const { run, tries } = work(AWAY);
    const failed = expect(createDatabaseRetry(clock)(run)).rejects.toBe(AWAY);
    await clock.advance(60_000);
    await failed;
    expect(tries()).toBe(33);
  });

  it.each([
    new Error('ours'),
    new StoreError('internal', 'STORE_STATEMENT', 'ours'),
    new StoreError('unavailable', 'STORE_CLOSED', 'closed'),
    new StoreError('unavailable', 'STORE_BROKEN', 'broken'),
  ])('does not retry another error: %s', async (error) => {
    const { run, tries } = work(error);
    await expect(createDatabaseRetry(new FakeClock())(run)).rejects.toBe(error);
    expect(tries()).toBe(1);
  });

  it('retries at most a thousand calls at once', async () => {
    const clock = new FakeClock();
    const hold = createDatabaseRetry(clock);
    const all = Array.from({ length: 1_000 }, () => hold(work(AWAY, 'taken').run));
    await settle();
    await expect(hold(work(AWAY, 'taken').run)).rejects.toBe(AWAY);
    await clock.advance(250);
    expect(await Promise.all(all)).toHaveLength(1_000);
    const later = hold(work(AWAY, 'taken').run);
    await clock.advance(250);
    expect(await later).toBe('taken');
  });
});
