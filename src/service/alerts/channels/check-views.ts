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
export interface CheckView extends StoredCheck {
  readonly alertChannels: CheckChannels;
  /** Left out in lists. */
  readonly warnings?: readonly Warning[];
}

/** Reads the subscriptions of all checks in one query. */
export async function viewsOf(
  sql: Sql,
  accountId: string,
  found: readonly StoredCheck[],
): Promise<readonly CheckView[]> {
  const checkIds = found.map(({ check }) => check.id);
  const known = await subscriptionsOfChecks(sql, { accountId, checkIds });
  return found.map((stored) => {
    const { subscriptions, alertChannels } = known.get(stored.check.id) ?? NO_SUBSCRIPTIONS;
    const check = { ...stored.check, alertChannelSubscriptions: [...subscriptions] };
    return { ...stored, check, alertChannels };
  });
}

export async function viewOf(sql: Sql, accountId: string, stored: StoredCheck): Promise<CheckView> {
  const [view] = await viewsOf(sql, accountId, [stored]);
  return view ?? { ...stored, alertChannels: NO_SUBSCRIPTIONS.alertChannels };
}

/**
 * As checks are stored: subscriptions have their own table, where they are deleted with their
 * channel. Agents do not need them.
 */
export function withoutSubscriptions<C extends AnyCheck>(check: C): C {
  return { ...check, alertChannelSubscriptions: [] };
}
