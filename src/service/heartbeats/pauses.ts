import { type CompiledPauses, compilePauses } from '../../model/schedule/pause.ts';
import type { Sql } from '../database/store.ts';
import { pausesOf } from '../maintenance-windows/shared.sql.ts';
import type { PausesBetween } from './transitions.ts';

interface Known {
  /** Windows that ended before this are not included. Epoch milliseconds. */
  readonly sinceMs: number;
  readonly pauses: CompiledPauses;
}

/**
 * Pauses by the account's maintenance windows. Within one transaction they are read again only for a
 * heartbeat that needs earlier ones.
 */
export function createPausesBetween(): PausesBetween {
  const known = new WeakMap<Sql, Map<string, Known>>();

  async function pausesSince(sql: Sql, accountId: string, sinceMs: number) {
    const accounts = known.get(sql) ?? new Map<string, Known>();
    known.set(sql, accounts);
    const found = accounts.get(accountId);
    if (found !== undefined && found.sinceMs <= sinceMs) return found.pauses;
    const pauses = compilePauses(await pausesOf(sql, { accountId, atMs: sinceMs }));
    accounts.set(accountId, { sinceMs, pauses });
    return pauses;
  }

  return async (sql, { accountId, tags, fromMs, toMs }) => {
    const pauses = await pausesSince(sql, accountId, fromMs);
    return pauses.timesFor(tags).pausedBetween(fromMs, toMs);
  };
}
