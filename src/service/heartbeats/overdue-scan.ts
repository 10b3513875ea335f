import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CheckKey } from '../checks/exports.ts';
import type { Sql, Store } from '../database/port.ts';
import { StoreError } from '../database/store-errors.ts';
import { type JudgingParts, record, type Step, settle } from './judge.ts';
import type { ServicePresence } from './service-presence.ts';
import { lockDue } from './sql.ts';

export interface OverdueScanParts extends JudgingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly presence: ServicePresence;
}

const HEARTBEATS_AT_ONCE = 100;
/** Heartbeats that cannot be judged are skipped until the next scan: at most this many. */
const MAX_LEFT_OUT = 1_000;

/**
 * Fails heartbeats past their deadline.
 *
 * Judges many in one transaction. If that fails while the database is available, judges them one by
 * one, so that a faulty one does not block the others.
 */
export function createOverdueScan(
  parts: OverdueScanParts,
): (signal?: AbortSignal) => Promise<number> {
  const { store, clock, log, presence } = parts;
  /** From the last scan, so that each is logged once. */
  let knownFaults: ReadonlySet<string> = new Set();

  async function judgeSome(
    tx: Sql,
    due: { readonly atMs: number; readonly limit: number; readonly except: readonly CheckKey[] },
    onHeld: (held: readonly CheckKey[]) => void,
  ): Promise<number> {
    const heartbeats = await lockDue(tx, due);
    onHeld(heartbeats.map(({ accountId, checkId: id }) => ({ accountId, id })));
    const steps: Step[] = [];
    for (const heartbeat of heartbeats) {
      const { step } = await settle(tx, parts, heartbeat, due.atMs);
      if (step !== null) steps.push(step);
    }
    await record(tx, parts, steps, due.atMs);
    return heartbeats.length;
  }

  return async (signal) => {
    const except: CheckKey[] = [];
    const faults = new Set<string>();
    let all = 0;
    let oneByOne = 0;
    for (let isMore = true; isMore && signal?.aborted !== true; ) {
      const limit = oneByOne > 0 ? 1 : HEARTBEATS_AT_ONCE;
      oneByOne = Math.max(0, oneByOne - 1);
      // Judge at an instant up to which the presence of the service is known.
      const atMs = clock.wallMs();
      await presence.tell(atMs);
      let held: readonly CheckKey[] = [];
      try {
        const looked = await store.transaction((tx) =>
          judgeSome(tx, { atMs, limit, except }, (keys) => {
            held = keys;
          }),
        );
        all += looked;
        isMore = looked === limit;
      } catch (error) {
        const isAway = error instanceof StoreError && error.kind === 'unavailable';
        const [key] = held;
        if (isAway || key === undefined || except.length >= MAX_LEFT_OUT) throw error;
        if (limit > 1) oneByOne = held.length;
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
    return all;
  };
}
