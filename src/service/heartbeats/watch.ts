import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import type { AccountKey } from '../database/account-key.ts';
import { everyHour } from '../database/every-hour.ts';
import { removePastRetention } from '../database/retention.ts';
import type { Sql, Store } from '../database/store.ts';
import { StoreError, storeErrorKind } from '../database/store-errors.ts';
import { deleteDowntimeBefore } from './downtime.sql.ts';
import { deleteHeartbeatEventsBefore } from './events.sql.ts';
import type { ServicePresence } from './service-presence.ts';
import { lockDue } from './sql.ts';
import {
  type HeartbeatTransition,
  type JudgingParts,
  record,
  settleHeartbeat,
} from './transitions.ts';

export interface WatchParts extends JudgingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly presence: ServicePresence;
  /** Retention of events in days, as of results. */
  readonly retentionDays: number;
  /** Retention of hourly downtime in days, as of roll-ups. */
  readonly rollUpRetentionDays: number;
}

export interface HeartbeatWatch {
  /**
   * Records that the service is present and fails heartbeats past their deadline. Safe on several
   * replicas at once.
   *
   * @returns the number of heartbeats scanned
   */
  scan(): Promise<number>;
  /** Scans about every second and deletes old events until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

const SCAN_EVERY_MS = 1_000;
/** Maximum delay while scans fail. Short, so that the presence of the service is recorded soon after a recovery. */
const MAX_SCAN_DELAY_MS = 2_000;
const HEARTBEATS_AT_ONCE = 100;
/** Heartbeats that cannot be judged are skipped until the next scan: at most this many. */
const MAX_SKIPPED = 1_000;
/** Bounds the time of a statement. */
const EVENTS_AT_ONCE = 5_000;

export function createWatch(parts: WatchParts): HeartbeatWatch {
  const { store, clock, log, presence } = parts;
  /** Faults of the last scan; each fault is logged once. */
  let knownFaults: ReadonlySet<string> = new Set();

  async function judgeBatch(
    tx: Sql,
    due: { readonly atMs: number; readonly limit: number; readonly except: readonly AccountKey[] },
    onLocked: (locked: readonly AccountKey[]) => void,
  ): Promise<number> {
    const heartbeats = await lockDue(tx, due);
    onLocked(heartbeats.map(({ accountId, checkId: id }) => ({ accountId, id })));
    const steps: HeartbeatTransition[] = [];
    for (const heartbeat of heartbeats) {
      const { step } = await settleHeartbeat(tx, parts, heartbeat, due.atMs);
      if (step !== null) steps.push(step);
    }
    await record(tx, parts, steps, due.atMs);
    return heartbeats.length;
  }

  /**
   * Judges many in one transaction. If that fails while the database is available, judges them one by
   * one, so that a faulty one does not block the others.
   */
  async function scan(signal?: AbortSignal): Promise<number> {
    const except: AccountKey[] = [];
    const faults = new Set<string>();
    let scanned = 0;
    let oneByOne = 0;
    for (let isMore = true; isMore && signal?.aborted !== true; ) {
      const limit = oneByOne > 0 ? 1 : HEARTBEATS_AT_ONCE;
      oneByOne = Math.max(0, oneByOne - 1);
      // Judge at an instant up to which the presence of the service is known.
      const atMs = clock.wallMs();
      await presence.record(atMs);
      let locked: readonly AccountKey[] = [];
      try {
        const judged = await store.transaction((tx) =>
          judgeBatch(tx, { atMs, limit, except }, (keys) => {
            locked = keys;
          }),
        );
        scanned += judged;
        isMore = judged === limit;
      } catch (error) {
        const isAway = error instanceof StoreError && error.kind === 'unavailable';
        const [key] = locked;
        if (isAway || key === undefined || except.length >= MAX_SKIPPED) throw error;
        if (limit > 1) oneByOne = locked.length;
        else {
          except.push(key);
          const name = JSON.stringify(key);
          faults.add(name);
          if (!knownFaults.has(name))
            log.error({ err: error, ...key }, 'a heartbeat cannot be judged');
        }
      }
    }
    knownFaults = faults;
    return scanned;
  }

  return {
    scan: () => scan(),

    async maintain(signal) {
      const options = {
        everyMs: SCAN_EVERY_MS,
        maxMs: MAX_SCAN_DELAY_MS,
        failure: 'overdue heartbeats could not be judged',
        kindOf: storeErrorKind,
        log,
      };
      await Promise.all([
        runEvery(
          clock,
          options,
          async () => {
            await scan(signal);
          },
          signal,
        ),
        everyHour(
          parts,
          'heartbeat events past their retention could not be removed',
          async () => {
            await removePastRetention(
              parts,
              EVENTS_AT_ONCE,
              (old) => deleteHeartbeatEventsBefore(store, old),
              signal,
            );
            await removePastRetention(
              { clock, retentionDays: parts.rollUpRetentionDays },
              EVENTS_AT_ONCE,
              (old) => deleteDowntimeBefore(store, old),
              signal,
            );
          },
          signal,
        ),
      ]);
    },
  };
}
