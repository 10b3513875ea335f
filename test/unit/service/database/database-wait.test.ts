import { describe, expect, it } from 'vitest';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { DatabaseWait } from '../../../../src/service/database/database-wait.ts';
import { StoreError } from '../../../../src/service/database/store-errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';

const AWAY = new StoreError('unavailable', 'STORE_CONNECTION', 'connect ECONNREFUSED');

function newWait() {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const stop = new AbortController();
  const wait = new DatabaseWait({ clock, log, signal: stop.signal });
  return { clock, records, stop, wait };
}

describe('waiting for the database', () => {
  it('tries again with a growing delay, and logs at most one warning a minute and one line at the end', async () => {
    const { clock, records, wait } = newWait();
    const triedAtMs: number[] = [];
    const done = wait.retry(async () => {
      triedAtMs.push(clock.monotonicMs());
      if (triedAtMs.length < 12) throw new VedetteError('environment', 'X', 'x', { cause: AWAY });
      wait.answered();
    });
    while (triedAtMs.length < 12) await clock.advance(500);
    await done;
    const delaysMs = triedAtMs.slice(1).map((ms, index) => ms - (triedAtMs[index] ?? 0));
    expect(delaysMs[0]).toBeLessThanOrEqual(1500);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(30_500);
    expect(delaysMs.at(-1)).toBeGreaterThanOrEqual(15_000);
    const warnings = records().filter(({ level }) => level === 'warn');
    const tookMs = (triedAtMs.at(-1) ?? 0) - (triedAtMs[0] ?? 0);
    expect(warnings.length).toBeGreaterThan(1);
    expect(warnings.length).toBeLessThanOrEqual(1 + tookMs / 60_000);
    expect(warnings[0]?.msg).toContain('connect ECONNREFUSED: see that the database runs');
    expect(records().at(-1)).toMatchObject({ level: 'info', msg: 'the database answers' });
  });

  it('logs nothing where the database answers at once', async () => {
    const { records, wait } = newWait();
    await wait.retry(async () => wait.answered());
    expect(records()).toEqual([]);
  });

  it.each([
    ['a refused password', new StoreError('unavailable', 'STORE_REFUSED', 'no')],
    ['a bug', new StoreError('internal', 'STORE_STATEMENT', 'no')],
    ['another release', new VedetteError('input', 'MIGRATION_CHANGED', 'no')],
  ])('does not wait after %s', async (_, error) => {
    const { records, wait } = newWait();
    await expect(wait.retry(() => Promise.reject(error))).rejects.toBe(error);
    expect(records()).toEqual([]);
  });

  it('does not start a service again that had started', async () => {
    const { wait } = newWait();
    const served = wait.retry(() => {
      wait.started();
      return Promise.reject(AWAY);
    });
    await expect(served).rejects.toBe(AWAY);
  });

  it('ends at once when it is asked to stop', async () => {
    const { clock, stop, wait } = newWait();
    let tries = 0;
    const done = wait.retry(() => {
      tries += 1;
      return Promise.reject(AWAY);
    });
    await clock.advance(0);
    stop.abort();
    await done;
    expect(tries).toBe(1);
  });
});
