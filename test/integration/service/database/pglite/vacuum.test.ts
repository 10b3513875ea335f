import { describe, expect, it } from 'vitest';
import { runVacuum } from '../../../../../src/service/database/pglite/vacuum.ts';
import { useEmptyStore } from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

describe('the embedded database', () => {
  const storeOf = useEmptyStore('pglite');

  it('has current statistics an hour later', async () => {
    const store = storeOf();
    const clock = new FakeClock();
    const { log, records } = captureLog();
    await store.query('create table grown as select generate_series(1, 500) as n');
    const estimated = async () =>
      (await store.query(`select reltuples::int as n from pg_class where relname = 'grown'`))[0]?.n;
    expect(await estimated()).toBeLessThan(500);
    const stop = new AbortController();
    const kept = runVacuum({ store, clock, log }, stop.signal);
    await clock.advance(3_600_000);
    // The store takes one statement after the other.
    expect(await estimated()).toBe(500);
    stop.abort();
    await kept;
    expect(records()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
