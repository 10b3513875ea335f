import { isDeepStrictEqual } from 'node:util';
import type { AlertChannel } from '../../../model/alerting/alert-channel.ts';
import { SERVICE_CHANNELS } from '../../../model/alerting/service-channels.ts';
import { isServiceChannel } from '../../../model/alerting/service-targets.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Allowance } from '../../accounts/allowance.ts';
import { findAccount } from '../../accounts/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Sql, Store } from '../../database/store.ts';
import { invalid, notFound, type RequestProblem } from '../../errors.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import type { Precondition } from '../../http/resources/etag.ts';
import type { RawBody } from '../../http/resources/given-fields.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../../http/resources/paging.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';
import type { NoticeSender } from '../delivery/notice-sender.ts';
import { sampleEndOf, sampleNotice } from '../delivery/sample-notice.ts';
import { sendSealed } from '../delivery/send-sealed.ts';
import type { AlertNotice } from '../notice.ts';
import { changedChannel, wholeChannel } from './channel-input.ts';
import { decryptTarget, sealedTarget } from './channel-secrets.ts';
import { findNotifiedChecks, type NotifiedChecks } from './notified-checks.sql.ts';
import {
  deleteChannel,
  findChannel,
  findChannels,
  insertChannel,
  listChannelEntries,
  lockChannel,
  newChannelId,
  type StoredChannel,
  updateChannel,
} from './sql.ts';
import {
  deleteSubscriptionsOfChannel,
  insertSubscriptions,
  lockSubscribedChecks,
  subscriptionsOfChannels,
} from './subscriptions.sql.ts';

export interface AlertChannelsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sender: Pick<NoticeSender, 'send'>;
  /** null: no channel with secrets can be stored. */
  readonly secrets: SecretBox | null;
  readonly allowance: Allowance;
}

/** A channel with its subscriptions by check. */
export interface ChannelView extends StoredChannel {
  readonly subscriptions: AlertChannel['subscriptions'];
  /** Left out in lists. */
  readonly servedChecks?: NotifiedChecks;
}

/** At most this many checks are named in a response. */
export const MAX_SERVED_CHECKS = 20;

export interface AlertChannels {
  create(accountId: string, input: RawBody): Promise<ChannelView>;
  read(key: AccountKey<number>): Promise<ChannelView>;
  /** Oldest first, a few at a time. */
  list(accountId: string, page: Page): AsyncIterable<readonly ChannelView[]>;
  /**
   * Each given field replaces the stored one as a whole, except that a webhook keeps the secrets that
   * are not given. The type never changes.
   */
  update(
    key: AccountKey<number>,
    input: RawBody,
    precondition?: Precondition<ChannelView>,
  ): Promise<ChannelView>;
  /** Also deletes its subscriptions, its pending deliveries and its log. */
  remove(key: AccountKey<number>, precondition?: Precondition<ChannelView>): Promise<void>;
  /**
   * Whether the channel has this configuration, secrets included.
   *
   * @throws ServiceError 409 if no key decrypts the stored secrets, 429 after too many comparisons
   */
  hasConfig(key: AccountKey<number>, config: RawBody): Promise<boolean>;
  /**
   * Sends a sample notice at once, without a retry, and to an incident service also the end of the problem.
   * The log does not contain them.
   *
   * @returns the outcome of the last one that was sent
   */
  test(key: AccountKey<number>, signal: AbortSignal): Promise<SendOutcome>;
}

/** Per minute and account: each comparison reveals whether a guess of the secrets is right. */
const MAX_COMPARISONS = 60;

export function createAlertChannels(parts: AlertChannelsParts): AlertChannels {
  const { store, clock, ids, sender, secrets, allowance } = parts;
  const comparisons = new RateLimit(clock, MAX_COMPARISONS);

  async function viewsOf(
    sql: Sql,
    accountId: string,
    channels: readonly StoredChannel[],
  ): Promise<readonly ChannelView[]> {
    const channelIds = channels.map(({ id }) => id);
    const byChannel = groupBy(
      await subscriptionsOfChannels(sql, { accountId, channelIds }),
      ({ channelId }) => channelId,
    );
    return channels.map((channel) => ({
      ...channel,
      subscriptions: (byChannel.get(channel.id) ?? []).map(({ checkId, activated }) => {
        return { checkId, activated };
      }),
    }));
  }

  async function viewOf(sql: Sql, accountId: string, channel: StoredChannel): Promise<ChannelView> {
    const [view] = await viewsOf(sql, accountId, [channel]);
    return view ?? { ...channel, subscriptions: [] };
  }

  async function wholeViewOf(
    sql: Sql,
    accountId: string,
    channel: StoredChannel,
  ): Promise<ChannelView> {
    const of = { accountId, id: channel.id, limit: MAX_SERVED_CHECKS };
    const servedChecks = await findNotifiedChecks(sql, of);
    return { ...(await viewOf(sql, accountId, channel)), servedChecks };
  }

  return {
    async create(accountId, input) {
      const { subscriptions, ...given } = wholeChannel(input);
      return store.transaction(async (tx) => {
        // This lock comes first in every feature.
        await allowance.grow(tx, accountId, 'alertChannels');
        await requireChecks(tx, accountId, subscriptions, []);
        const key = { accountId, id: await newChannelId(tx) };
        const { target, sealedSecrets } = sealedTarget(secrets, key, given);
        const fields = { ...given, ...target };
        const createdAtMs = clock.wallMs();
        const created = await insertChannel(tx, { ...key, fields, sealedSecrets, createdAtMs });
        await insertSubscriptions(tx, {
          accountId,
          subscriptions: subscriptions.map((one) => ({ ...one, channelId: created.id })),
        });
        return wholeViewOf(tx, accountId, created);
      });
    },

    async read({ accountId, id }) {
      const found = await findChannel(store, { accountId, id });
      if (found === null) throw notFound('alert channel');
      return wholeViewOf(store, accountId, found);
    },

    async *list(accountId, page) {
      const entries = await listChannelEntries(store, { accountId, ...rangeOf(page) });
      yield* inSlices(entries, async (ids) =>
        viewsOf(store, accountId, await findChannels(store, { accountId, ids })),
      );
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        const known = await findChannel(tx, { accountId, id });
        if (known === null) throw notFound('alert channel');
        const isSubscribing = input.subscriptions !== undefined;
        const before = isSubscribing
          ? await subscriptionsOfChannels(tx, { accountId, channelIds: [id] })
          : [];
        // Locks the checks before the channel: changes of checks lock in this order, too.
        const key = { accountId, id };
        const { subscriptions: named } = changedChannel(secrets, key, known, input);
        if (isSubscribing) await requireChecks(tx, accountId, named, before);
        const stored = await lockChannel(tx, { accountId, id });
        if (stored === null) throw notFound('alert channel');
        precondition?.(await wholeViewOf(tx, accountId, stored));
        const { subscriptions, content } = changedChannel(secrets, key, stored, input);
        if (isSubscribing) {
          await deleteSubscriptionsOfChannel(tx, { accountId, channelId: id });
          await insertSubscriptions(tx, {
            accountId,
            subscriptions: subscriptions.map((one) => ({ ...one, channelId: id })),
          });
        }
        const updatedAtMs = clock.wallMs();
        const updated = await updateChannel(tx, { ...key, ...content, updatedAtMs });
        if (updated === null) throw notFound('alert channel');
        return wholeViewOf(tx, accountId, updated);
      });
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        const stored = await lockChannel(tx, key);
        if (stored === null) throw notFound('alert channel');
        precondition?.(await wholeViewOf(tx, key.accountId, stored));
        await deleteChannel(tx, key);
      });
    },

    async hasConfig(key, config) {
      comparisons.check(key.accountId);
      comparisons.count(key.accountId);
      const found = await findChannel(store, key);
      if (found === null) throw notFound('alert channel');
      const { fields: target, sealedSecrets } = found;
      const given = wholeChannel({ type: target.type, config });
      const stored = decryptTarget(secrets, key, { target, sealedSecrets });
      return isDeepStrictEqual(withSecret(given.config), withSecret(stored.config));
    },

    async test({ accountId, id }, signal) {
      const found = await findChannel(store, { accountId, id });
      if (found === null) throw notFound('alert channel');
      const account = await findAccount(store, accountId);
      const notice = sampleNotice({
        alertId: ids(),
        atMs: clock.wallMs(),
        timeZone: account?.timeZone ?? 'UTC',
      });
      const { fields: target, sealedSecrets } = found;
      const { titleTemplate, textTemplate } = target;
      const templates = { titleTemplate, textTemplate };
      const channel = { accountId, channelId: id, target, sealedSecrets, templates };
      const send = (sample: AlertNotice): Promise<SendOutcome> =>
        sendSealed({ sender, secrets }, { ...channel, deliveryId: ids(), notice: sample }, signal);
      const outcome = await send(notice);
      const isToBeClosed =
        outcome.ok && isServiceChannel(target.type) && SERVICE_CHANNELS[target.type].closes;
      // A test must not leave an incident open. This also shows that the end arrives.
      return isToBeClosed ? send(sampleEndOf(notice)) : outcome;
    },
  };
}

/** Makes a missing key of signatures comparable with null. */
function withSecret(config: object): object {
  return { webhookSecret: null, ...config };
}

/**
 * Locks the checks until the transaction ends.
 *
 * @throws ServiceError 400 where the input names a check twice, or one that does not exist
 */
async function requireChecks(
  tx: Sql,
  accountId: string,
  named: readonly { readonly checkId: string }[],
  before: readonly { readonly checkId: string }[],
): Promise<void> {
  const ids = named.map(({ checkId }) => checkId);
  const all = [...new Set([...ids, ...before.map(({ checkId }) => checkId)])];
  const existing = new Set(await lockSubscribedChecks(tx, { accountId, checkIds: all }));
  const firsts = new Map<string, number>();
  const problems = ids.flatMap((id, index): readonly RequestProblem[] => {
    const path = ['subscriptions', index, 'checkId'];
    if (!existing.has(id)) return [bodyProblem(path, 'must be the id of an existing check')];
    const first = firsts.get(id) ?? index;
    firsts.set(id, first);
    return first < index ? [bodyProblem(path, 'must not name a check twice')] : [];
  });
  if (problems.length > 0) throw invalid(problems);
}
