import type { PublicTarget } from '../../../model/alerting/alert-channel.ts';
import type { ChannelPair } from '../../../model/alerting/channel-configs.ts';
import { SERVICE_CHANNELS } from '../../../model/alerting/service-channels.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { Sql } from '../../database/store.ts';
import type { RequestProblem } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { lockChannelsShared } from './sql.ts';
import {
  channelsOfChecks,
  deleteSubscriptionsOfCheck,
  insertSubscriptions,
} from './subscriptions.sql.ts';

/** src/model/README.md, "Fields of every check". */
export interface ApiChannelSubscription {
  readonly alertChannelId: number;
  readonly activated: boolean;
}

/** `alertChannels` of a check: src/service/README.md, "Alerts". */
export interface CheckChannels {
  readonly email: readonly { readonly address: string }[];
  /** Also service channels: chats, push and incident services. */
  readonly webhook: readonly {
    readonly url: string;
    readonly name: string;
    readonly method: string;
    readonly headers: readonly ChannelPair[];
    readonly queryParameters: readonly ChannelPair[];
  }[];
  readonly slack: readonly { readonly url: string }[];
  readonly sms: readonly { readonly number: string; readonly name: string }[];
  /** How many more there are: see MAX_TARGET_BYTES. Left out if there are none. */
  readonly omitted?: number;
}

export interface CheckSubscriptions {
  /** In the order of the channels. */
  readonly subscriptions: readonly ApiChannelSubscription[];
  /** The channels that are notified of the check. Locked values are empty. */
  readonly alertChannels: CheckChannels;
}

type CheckKey = { readonly accountId: string; readonly checkId: string };

export const NO_SUBSCRIPTIONS: CheckSubscriptions = {
  subscriptions: [],
  alertChannels: { email: [], webhook: [], slack: [], sms: [] },
};

/**
 * Bounds the JSON of the channels of one check in a response: one webhook may have 2 MB, and any number of channels may
 * be subscribed to any number of checks.
 */
const MAX_TARGET_BYTES = 64 * 1024;

/** In one query, by the id of the check. A check without subscriptions is not in the map. */
export async function subscriptionsOfChecks(
  sql: Sql,
  asked: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<ReadonlyMap<string, CheckSubscriptions>> {
  const rows = await channelsOfChecks(sql, { ...asked, targetBytes: MAX_TARGET_BYTES });
  return new Map(
    [...groupBy(rows, ({ checkId }) => checkId)].map(([checkId, subscribed]) => [
      checkId,
      {
        subscriptions: subscribed
          .filter(({ isNamed }) => isNamed)
          .map(({ channelId, activated }) => ({ alertChannelId: channelId, activated })),
        alertChannels: channelsOf(subscribed.filter(({ activated }) => activated)),
      },
    ]),
  );
}

function channelsOf(
  subscribed: readonly { readonly target: PublicTarget | null }[],
): CheckChannels {
  let omitted = 0;
  const email: { address: string }[] = [];
  const webhook: CheckChannels['webhook'][number][] = [];
  const slack: { url: string }[] = [];
  const sms: { number: string; name: string }[] = [];
  for (const { target } of subscribed) {
    if (target === null) {
      omitted += 1;
      continue;
    }
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
        break;
      default: {
        // The API has no list for service channels.
        const { url, name } = target.config;
        const { method } = SERVICE_CHANNELS[target.type];
        webhook.push({ url, name, method, headers: [], queryParameters: [] });
      }
    }
  }
  return { email, webhook, slack, sms, ...(omitted > 0 ? { omitted } : {}) };
}

/**
 * Locks the named channels against deletion until the transaction ends.
 *
 * @returns a problem for each channel that does not exist or is named twice
 */
export async function requireChannels(
  tx: Sql,
  accountId: string,
  named: readonly ApiChannelSubscription[],
): Promise<readonly RequestProblem[]> {
  const ids = named.map(({ alertChannelId }) => alertChannelId);
  // The database rejects a fraction or a number past 2^53, which is no id anyway.
  const possible = [...new Set(ids.filter(Number.isSafeInteger))];
  const existing = new Set(await lockChannelsShared(tx, { accountId, ids: possible }));
  const seen = new Set<number>();
  return ids.flatMap((id, index) => {
    const path = ['alertChannelSubscriptions', index, 'alertChannelId'];
    if (!existing.has(id)) {
      return [bodyProblem(path, `must be the id of an alert channel: there is no ${id}`)];
    }
    if (seen.has(id)) return [bodyProblem(path, `must not name ${id} twice`)];
    seen.add(id);
    return [];
  });
}

/** Only for channels that `requireChannels` locks, and a locked check. */
export async function replaceSubscriptions(
  tx: Sql,
  { accountId, checkId, given }: CheckKey & { readonly given: readonly ApiChannelSubscription[] },
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
 * The subscriptions of a new check: the given ones, and with automatic assignment
 * (src/service/README.md, "Checks") those to all other channels, except the ones with `subscribeAll`.
 */
export async function firstSubscriptions(
  tx: Sql,
  {
    accountId,
    checkId,
    given,
    autoAssignAlerts,
  }: CheckKey & {
    readonly given: readonly ApiChannelSubscription[];
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
