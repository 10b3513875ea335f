import { type AlertSettings, alertSettingsSchema } from '../../model/alerting/alert-settings.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { Sql, Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { findAlertSettings, putAlertSettings } from './account-alert-settings.sql.ts';

/** The alert settings of checks and groups that have none of their own. */
export interface AccountAlertSettings {
  /** @throws ServiceError 404 for another account than the caller's */
  read(callerAccountId: string, accountId: string): Promise<AlertSettings>;
  /**
   * Each given field replaces the stored one as a whole.
   *
   * @throws ServiceError 404 for another account than the caller's
   */
  update(
    callerAccountId: string,
    accountId: string,
    input: Readonly<Record<string, unknown>>,
    precondition?: Precondition<AlertSettings>,
  ): Promise<AlertSettings>;
}

export function createAccountAlertSettings({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): AccountAlertSettings {
  async function stored(sql: Sql, accountId: string): Promise<AlertSettings> {
    return (await findAlertSettings(sql, accountId)) ?? alertSettingsSchema.parse({});
  }

  return {
    async read(callerAccountId, accountId) {
      if (accountId !== callerAccountId) throw notFound('account');
      return stored(store, accountId);
    },

    async update(callerAccountId, accountId, input, precondition) {
      if (accountId !== callerAccountId) throw notFound('account');
      const given = Object.entries(input).filter(([, value]) => value !== undefined);
      return store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const before = await stored(tx, accountId);
        precondition?.(before);
        const settings = validBody(alertSettingsSchema, {
          ...before,
          ...Object.fromEntries(given),
        });
        await putAlertSettings(tx, { accountId, settings, updatedAtMs: clock.wallMs() });
        return settings;
      });
    },
  };
}
