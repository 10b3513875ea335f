import type { AnyCheck } from '../../../model/heartbeat/heartbeat.ts';
import type { StoredCheck } from '../../checks/exports.ts';
import type { Sql } from '../../database/port.ts';
import {
  type CheckChannels,
  NO_SUBSCRIPTIONS,
  subscriptionsOfChecks,
} from './check-subscriptions.ts';

/** A check with what else the service tells of it. Its `alertChannelSubscriptions` are those of now. */
export interface CheckView extends StoredCheck {
  /** Where its notices go now. */
  readonly alertChannels: CheckChannels;
}

/** With the subscriptions of all of them, in one query. */
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
 * As it is stored: subscriptions have a table of their own, so that they go with their channel; and
 * agents need not know them.
 */
export function withoutSubscriptions<C extends AnyCheck>(check: C): C {
  return { ...check, alertChannelSubscriptions: [] };
}
