import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/service/database/store.ts';
import { createResultPartitions } from '../../../../src/service/results/partitions.sql.ts';
import { silentLog, useMigrated } from '../../../support/database/databases.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 2, 10, 12);

/** The partitions of results by day, on every database. */
export function partitionSuite(store: () => Store): void {
  describe('the partitions of results', () => {
    useMigrated(store);

    const setUp = async (retentionDays = 3) => {
      for (const { name } of await partitionsThere()) await store().query(`drop table ${name}`);
      const clock = new FakeClock(NOON);
      const partitions = createResultPartitions({
        store: store(),
        clock,
        log: silentLog(),
        retentionDays,
      });
      return { clock, partitions };
    };
    const partitionsThere = () =>
      store().query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits
         where inhparent = 'check_results'::regclass order by 1`,
      );
    const days = async () => (await partitionsThere()).map(({ name }) => name.slice(-4));
    const insert = (slotMs: number, id = 'r'): Promise<unknown> =>
      store().query(
        `insert into check_results (check_id, account_id, id, result_type, slot, created_at,
           has_failures, has_errors, run_location, check_type, body)
         values ('c', 'a', $2, 'FINAL', $1, $1, false, false, 'here', 'URL', '{}')`,
        [new Date(slotMs), id],
      );

    it('are made ahead, from yesterday on, and only once', async () => {
      const { partitions } = await setUp();
      expect(await partitions.makeAndDrop()).toEqual({ made: 5, dropped: [] });
      expect(await days()).toEqual(['0309', '0310', '0311', '0312', '0313']);
      expect(await partitions.makeAndDrop()).toEqual({ made: 0, dropped: [] });
    });

    it('have the index of cursors', async () => {
      const { partitions } = await setUp();
      await partitions.makeAndDrop();
      const [row] = await store().query(
        `select count(*) as indexed from pg_indexes
         where tablename like 'check\\_results\\_2026%' and indexdef like '%list_position)'`,
      );
      expect(row).toEqual({ indexed: 5 });
    });

    it('hold whole days in UTC', async () => {
      const { partitions } = await setUp();
      await partitions.makeAndDrop();
      const start = Date.UTC(2026, 2, 10);
      await insert(start - 1, 'before');
      await insert(start, 'first');
      await insert(start + DAY_MS - 1, 'last');
      expect(await store().query('select id from check_results_20260310 order by slot')).toEqual([
        { id: 'first' },
        { id: 'last' },
      ]);
    });

    it('are made on demand for results that come late', async () => {
      const { partitions } = await setUp();
      const late = NOON - 3 * DAY_MS;
      await expect(insert(late)).rejects.toMatchObject({ code: 'STORE_NO_PARTITION' });
      await partitions.ensure([late, late + 1, NOON]);
      await insert(late);
      await insert(NOON);
      expect(await days()).toEqual(['0307', '0310']);
    });

    it('are not made for slots that are not kept', async () => {
      const { partitions } = await setUp();
      const firstKept = Date.UTC(2026, 2, 7);
      expect(partitions.judgeSlot(firstKept)).toBe('kept');
      expect(partitions.judgeSlot(firstKept - 1)).toBe('too-old');
      expect(partitions.judgeSlot(NOON + DAY_MS)).toBe('kept');
      expect(partitions.judgeSlot(NOON + DAY_MS + 1)).toBe('too-far-ahead');
      await expect(partitions.ensure([firstKept - 1])).rejects.toMatchObject({ kind: 'invalid' });
      await expect(partitions.ensure([NOON + 9 * DAY_MS])).rejects.toMatchObject({
        kind: 'invalid',
      });
      expect(await days()).toEqual([]);
    });

    it('are dropped past the retention, with their results, and no others', async () => {
      const { clock, partitions } = await setUp();
      await partitions.ensure([NOON - 3 * DAY_MS, NOON - 2 * DAY_MS]);
      await insert(NOON - 3 * DAY_MS, 'old');
      await insert(NOON - 2 * DAY_MS, 'kept');
      expect((await partitions.makeAndDrop()).dropped).toEqual([]);
      clock.stepWall(DAY_MS);
      expect((await partitions.makeAndDrop()).dropped).toEqual(['check_results_20260307']);
      expect(await store().query('select id from check_results')).toEqual([{ id: 'kept' }]);
      expect(partitions.judgeSlot(NOON - 3 * DAY_MS)).toBe('too-old');
    });

    it('come back when they were dropped and the day is kept again', async () => {
      const { clock, partitions } = await setUp();
      await partitions.ensure([NOON - 3 * DAY_MS]);
      clock.stepWall(DAY_MS);
      await partitions.makeAndDrop();
      clock.stepWall(-DAY_MS);
      await partitions.ensure([NOON - 3 * DAY_MS]);
      await insert(NOON - 3 * DAY_MS);
      expect(await days()).toContain('0307');
    });

    it('may be made by many at once', async () => {
      const { partitions } = await setUp();
      const slots = [0, 1, 2, 3].map((days) => NOON - days * DAY_MS);
      await Promise.all(slots.map(() => partitions.ensure(slots)));
      expect(await days()).toEqual(['0307', '0308', '0309', '0310']);
    });

    it('are kept up hour by hour until the signal to stop', async () => {
      const { clock, partitions } = await setUp();
      const stop = new AbortController();
      const keeping = partitions.maintain(stop.signal);
      while (clock.pendingTimers === 0) await settle();
      expect(await days()).toHaveLength(5);
      clock.stepWall(DAY_MS);
      await clock.advance(3_600_000);
      while (clock.pendingTimers === 0) await settle();
      expect(await days()).toContain('0314');
      stop.abort();
      await keeping;
      expect(clock.pendingTimers).toBe(0);
    });
  });
}
