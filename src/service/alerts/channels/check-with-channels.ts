import type { AnyCheck } from '../../../model/check/heartbeat.ts';
import type { StoredCheck } from '../../checks/shared.sql.ts';
import type { Sql } from '../../database/store.ts';
import type { Warning } from '../../http/resources/warnings.ts';
import {
  type CheckChannels,
  NO_SUBSCRIPTIONS,
  subscriptionsOfChecks,
} from './check-subscriptions.ts';

/** A check with its current `alertChannelSubscriptions`. */
export interface CheckWithChannels extends StoredCheck {
  readonly alertChannels: CheckChannels;
  /** Left out in lists. */
  readonly warnings?: readonly Warning[];
}

/** Reads the subscriptions of all checks in one query. */
export async function checksWithChannels(
  sql: Sql,
  accountId: string,
  found: readonly StoredCheck[],
): Promise<readonly CheckWithChannels[]> {
  const checkIds = found.map(({ check }) => check.id);
  const known = await subscriptionsOfChecks(sql, { accountId, checkIds });
  return found.map((stored) => {
    const { subscriptions, alertChannels } = known.get(stored.check.id) ?? NO_SUBSCRIPTIONS;
    const check = { ...stored.check, alertChannelSubscriptions: [...subscriptions] };
    return { ...stored, check, alertChannels };
  });
}

export async function checkWithChannels(
  sql: Sql,
  accountId: string,
  stored: StoredCheck,
): Promise<CheckWithChannels> {
  const [view] = await checksWithChannels(sql, accountId, [stored]);
  return view ?? { ...stored, alertChannels: NO_SUBSCRIPTIONS.alertChannels };
}

/**
 * The check as it is stored: subscriptions have their own table, where they are deleted with their channel. Agents do
 * not need them.
 */
export function withoutSubscriptions<C extends AnyCheck>(check: C): C {
  return { ...check, alertChannelSubscriptions: [] };
}
