import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { everyHour } from '../database/every-hour.ts';
import type { Sql, Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';

/** Partitions are created this early: inserts continue even if creating them fails for some days. */
const DAYS_AHEAD = 3;
/** Allows for a wrong clock of an agent. Its time zone does not matter: slots are UTC. */
const MAX_FUTURE_MS = DAY_MS;
/** A waiting drop blocks all later statements on the table, so it gives up soon. */
const DROP_LOCK_WAIT_MS = 2000;

export interface PartitionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days of results to retain, besides today. */
  readonly retentionDays: number;
}

export interface ResultPartitions {
  /**
   * Whether results of this slot are stored: not if their day is older than the retention or the slot
   * more than a day ahead, since such a partition would be dropped at once or never.
   */
  judgeSlot(slotMs: number): 'kept' | 'too-old' | 'too-far-ahead';
  /**
   * Creates the missing partitions for results that are about to be inserted. Partitions of recent days exist
   * already, so only late results need a statement. Call it outside of the transaction that inserts, since
   * other transactions would wait for it.
   * @throws StoreError `invalid` for a slot that `judgeSlot` does not keep
   */
  ensure(slotsMs: Iterable<number>): Promise<void>;
  /** Makes the partitions ahead and drops those past the retention. Safe on several replicas. */
  makeAndDrop(): Promise<{ readonly made: number; readonly dropped: readonly string[] }>;
  /** `makeAndDrop` now and about every hour, until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createResultPartitions(options: PartitionOptions): ResultPartitions {
  const { store, clock, log, retentionDays } = options;
  const today = (): number => dayOf(clock.wallMs());
  /** Days since the epoch whose partition exists, of those that `judgeSlot` keeps. */
  const known = new Set<number>();

  const make = async (first: number, last: number): Promise<number> => {
    const made = await makePartitions(store, first, last);
    for (let day = first; day <= last; day += 1) known.add(day);
    return made;
  };

  const partitions: ResultPartitions = {
    judgeSlot(slotMs) {
      if (dayOf(slotMs) < today() - retentionDays) return 'too-old';
      return slotMs > clock.wallMs() + MAX_FUTURE_MS ? 'too-far-ahead' : 'kept';
    },
    async ensure(slotsMs) {
      const missing = new Set<number>();
      for (const slotMs of slotsMs) {
        const verdict = partitions.judgeSlot(slotMs);
        if (verdict !== 'kept') {
          throw new StoreError('invalid', 'STORE_SLOT_RANGE', `no results are kept: ${verdict}`);
        }
        if (!known.has(dayOf(slotMs))) missing.add(dayOf(slotMs));
      }
      for (const day of missing) await make(day, day);
    },
    async makeAndDrop() {
      const day = today();
      // Results of yesterday still arrive today.
      const made = await make(day - Math.min(1, retentionDays), day + DAYS_AHEAD);
      const dropped: string[] = [];
      for (let name = await drop(store, retentionDays, day); name !== null; ) {
        dropped.push(name);
        name = await drop(store, retentionDays, day);
      }
      for (const old of known) if (old < day - retentionDays) known.delete(old);
      return { made, dropped };
    },
    maintain(signal) {
      const work = async (): Promise<void> => {
        const { dropped } = await partitions.makeAndDrop();
        if (dropped.length > 0) log.info({ dropped }, 'dropped results past their retention');
      };
      return everyHour(options, 'the partitions of results could not be updated', work, signal);
    },
  };
  return partitions;
}

async function makePartitions(sql: Sql, firstDay: number, lastDay: number): Promise<number> {
  const [row] = await sql.query<{ made: number }>(
    'select make_result_partitions($1::date, $2::date) as made',
    [isoDay(firstDay), isoDay(lastDay)],
  );
  return row?.made ?? 0;
}

/** Drops one partition in its own transaction, so that the table is locked only for one drop. */
async function drop(store: Store, retentionDays: number, day: number): Promise<string | null> {
  return store.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = ${DROP_LOCK_WAIT_MS}`);
    const [row] = await tx.query<{ name: string | null }>(
      'select drop_oldest_result_partition($1, $2::date) as name',
      [retentionDays, isoDay(day)],
    );
    return row?.name ?? null;
  });
}

/** Days since the epoch, UTC. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
