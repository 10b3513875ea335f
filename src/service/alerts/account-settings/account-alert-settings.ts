import {
  type AccountAlertSettings,
  accountAlertSettingsSchema,
} from '../../../model/alerting/alert-settings.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { lockAccount } from '../../accounts/shared.sql.ts';
import type { Sql, Store } from '../../database/store.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Precondition } from '../../http/resources/etag.ts';
import { bodyProblem, validBody } from '../../http/resources/input-problems.ts';
import { lockChannelsShared } from '../channels/sql.ts';
import { findAlertSettings, putAlertSettings } from './sql.ts';

/** The alert settings of checks and groups without settings of their own, and the escalation step of all checks. */
export interface AccountAlertSettingsFeature {
  /** @throws ServiceError 404 for another account than the caller's */
  read(callerAccountId: string, accountId: string): Promise<AccountAlertSettings>;
  /**
   * Each given field replaces the stored one as a whole.
   *
   * @throws ServiceError 404 for another account than the caller's, 400 for channels that do not exist
   */
  update(
    callerAccountId: string,
    accountId: string,
    input: Readonly<Record<string, unknown>>,
    precondition?: Precondition<AccountAlertSettings>,
  ): Promise<AccountAlertSettings>;
}

export function createAccountAlertSettings({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): AccountAlertSettingsFeature {
  async function stored(sql: Sql, accountId: string): Promise<AccountAlertSettings> {
    const found = await findAlertSettings(sql, accountId);
    if (found === null) return accountAlertSettingsSchema.parse({});
    return { ...found.settings, escalationStep: found.escalationStep };
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
        const changed = validBody(accountAlertSettingsSchema, {
          ...before,
          ...Object.fromEntries(given),
        });
        const { escalationStep, ...settings } = changed;
        await requireChannels(tx, accountId, escalationStep?.alertChannelIds ?? []);
        const updatedAtMs = clock.wallMs();
        await putAlertSettings(tx, { accountId, settings, escalationStep, updatedAtMs });
        return changed;
      });
    },
  };
}

async function requireChannels(tx: Sql, accountId: string, ids: readonly number[]): Promise<void> {
  const existing = new Set(await lockChannelsShared(tx, { accountId, ids }));
  const problems = ids.flatMap((id, index) => {
    const isKnown = existing.has(id) && ids.indexOf(id) === index;
    const path = ['escalationStep', 'alertChannelIds', index];
    return isKnown ? [] : [bodyProblem(path, `must name an alert channel, each once, not ${id}`)];
  });
  if (problems.length > 0) throw invalid(problems);
}
