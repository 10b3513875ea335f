import type { ChannelPair, OpenTarget } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/port.ts';
import type { RequestProblem } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { lockChannelsShared } from './sql.ts';
import {
  channelsOfChecks,
  deleteSubscriptionsOfCheck,
  insertSubscriptions,
} from './subscriptions.sql.ts';

/** As a check has them: src/model/README.md, "Fields of every check". */
export interface ChannelSubscription {
  readonly alertChannelId: number;
  readonly activated: boolean;
}

/** Where the notices of a check go: src/service/README.md, "Alerts", alertChannels. */
export interface CheckChannels {
  readonly email: readonly { readonly address: string }[];
  readonly webhook: readonly {
    readonly url: string;
    readonly name: string;
    readonly method: string;
    readonly headers: readonly ChannelPair[];
    readonly queryParameters: readonly ChannelPair[];
  }[];
  readonly slack: readonly { readonly url: string }[];
  readonly sms: readonly { readonly number: string; readonly name: string }[];
}

export interface CheckSubscriptions {
  /** By channel. */
  readonly subscriptions: readonly ChannelSubscription[];
  /** Of the activated ones. Locked values are left empty. */
  readonly alertChannels: CheckChannels;
}

type CheckKey = { readonly accountId: string; readonly checkId: string };

export const NO_SUBSCRIPTIONS: CheckSubscriptions = {
  subscriptions: [],
  alertChannels: { email: [], webhook: [], slack: [], sms: [] },
};

/** Of all the checks, in one query; those that have none are left out. */
export async function subscriptionsOfChecks(
  sql: Sql,
  asked: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<ReadonlyMap<string, CheckSubscriptions>> {
  const rows = await channelsOfChecks(sql, asked);
  const byCheck = new Map<string, (typeof rows)[number][]>();
  for (const row of rows) {
    const ones = byCheck.get(row.checkId);
    if (ones === undefined) byCheck.set(row.checkId, [row]);
    else ones.push(row);
  }
  return new Map(
    [...byCheck].map(([checkId, ones]) => [
      checkId,
      {
        subscriptions: ones.map(({ channelId, activated }) => ({
          alertChannelId: channelId,
          activated,
        })),
        alertChannels: channelsOf(ones.filter(({ activated }) => activated)),
      },
    ]),
  );
}

function channelsOf(ones: readonly { readonly target: OpenTarget }[]): CheckChannels {
  const email: { address: string }[] = [];
  const webhook: CheckChannels['webhook'][number][] = [];
  const slack: { url: string }[] = [];
  const sms: { number: string; name: string }[] = [];
  for (const { target } of ones) {
    switch (target.type) {
      case 'EMAIL':
        email.push({ address: target.config.address });
        break;
      case 'WEBHOOK': {
        const { url, name, method, headers, queryParameters } = target.config;
        webhook.push({ url, name, method, headers, queryParameters });
        break;
      }
      case 'SLACK':
        slack.push({ url: target.config.url });
        break;
      case 'SMS':
        sms.push({ number: target.config.number, name: target.config.name });
    }
  }
  return { email, webhook, slack, sms };
}

/**
 * Until the transaction ends, none of the channels that are named is deleted.
 *
 * @returns what is wrong: a channel that the account has not, or one that is named twice
 */
export async function requireChannels(
  tx: Sql,
  accountId: string,
  named: readonly ChannelSubscription[],
): Promise<readonly RequestProblem[]> {
  const ids = named.map(({ alertChannelId }) => alertChannelId);
  // A fraction or a number past 2^53 is no id, and not a number that the database takes.
  const possible = [...new Set(ids.filter(Number.isSafeInteger))];
  const held = new Set(await lockChannelsShared(tx, { accountId, ids: possible }));
  const seen = new Set<number>();
  return ids.flatMap((id, index) => {
    const path = ['alertChannelSubscriptions', index, 'alertChannelId'];
    if (!held.has(id)) {
      return [bodyProblem(path, `must be the id of an alert channel: there is no ${id}`)];
    }
    if (seen.has(id)) return [bodyProblem(path, `must not name ${id} twice`)];
    seen.add(id);
    return [];
  });
}

/** Those given, and no others. Only of channels that `requireChannels` holds, and a locked check. */
export async function replaceSubscriptions(
  tx: Sql,
  { accountId, checkId, given }: CheckKey & { readonly given: readonly ChannelSubscription[] },
): Promise<void> {
  await deleteSubscriptionsOfCheck(tx, { accountId, checkId });
  await insertSubscriptions(tx, {
    accountId,
    subscriptions: given.map(({ alertChannelId, activated }) => {
      return { checkId, channelId: alertChannelId, activated };
    }),
  });
}

/**
 * Those of a check that is created: as given, and where they are assigned automatically
 * (src/service/README.md, "Every endpoint") to all other channels that there are, too.
 */
export async function firstSubscriptions(
  tx: Sql,
  {
    accountId,
    checkId,
    given,
    autoAssignAlerts,
  }: CheckKey & {
    readonly given: readonly ChannelSubscription[];
    readonly autoAssignAlerts: boolean;
  },
): Promise<void> {
  const all = autoAssignAlerts ? await lockChannelsShared(tx, { accountId, ids: null }) : [];
  const named = new Set(given.map(({ alertChannelId }) => alertChannelId));
  const others = all.filter((id) => !named.has(id));
  await replaceSubscriptions(tx, {
    accountId,
    checkId,
    given: [...given, ...others.map((id) => ({ alertChannelId: id, activated: true }))],
  });
}
