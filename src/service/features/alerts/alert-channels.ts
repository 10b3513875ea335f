import { type AlertChannel, alertChannelSchema } from '../../../model/alert-channel.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { invalid, notFound, type RequestProblem } from '../../errors.ts';
import {
  type ChannelFields,
  deleteChannel,
  findChannel,
  insertChannel,
  listChannels,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../../store/alert-channels.ts';
import {
  deleteSubscriptionsOfChannel,
  holdSubscribers,
  insertSubscriptions,
  type Subscription,
  subscriptionsOfChannels,
} from '../../store/alert-subscriptions.ts';
import type { Sql, Store } from '../../store/port.ts';
import { type Allowance, unlimited } from '../entitlements/allowance.ts';
import { givenFields } from '../given-fields.ts';
import { bodyProblem, parseBody } from '../input-problems.ts';
import { type Page, rangeOf } from '../paging.ts';
import { withStoredSecrets } from './channel-secrets.ts';
import type { SendOutcome } from './delivery/outcome.ts';
import { sampleNotice } from './delivery/sample-notice.ts';
import type { NoticeSender } from './delivery/sender.ts';
import { templateProblemOf } from './delivery/template-check.ts';

export interface AlertChannelsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sender: Pick<NoticeSender, 'send'>;
  /** Left out, nothing is limited. */
  readonly allowance?: Allowance;
}

export type ChannelInput = Readonly<Record<string, unknown>>;

/** A channel with its secrets, which are not to be shown, and with its subscriptions by check. */
export interface ChannelView extends StoredChannel {
  readonly subscriptions: AlertChannel['subscriptions'];
}

export interface AlertChannels {
  create(accountId: string, input: ChannelInput): Promise<ChannelView>;
  read(accountId: string, id: number): Promise<ChannelView>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly ChannelView[]>;
  /**
   * The given fields over the stored ones, each whole; of a webhook the secrets that are not given
   * stay. The type stays.
   */
  update(accountId: string, id: number, input: ChannelInput): Promise<ChannelView>;
  /** With its subscriptions, what waits to be sent to it, and its log. */
  remove(accountId: string, id: number): Promise<void>;
  /** Sends a made-up notice at once, once. It is not in the log. */
  test(accountId: string, id: number, signal: AbortSignal): Promise<SendOutcome>;
}

/** What the service adds to a channel: sent back with an update, it is no change. */
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createAlertChannels(parts: AlertChannelsParts): AlertChannels {
  const { store, clock, ids, sender, allowance = unlimited } = parts;

  async function viewsOf(
    sql: Sql,
    accountId: string,
    channels: readonly StoredChannel[],
  ): Promise<readonly ChannelView[]> {
    const channelIds = channels.map(({ id }) => id);
    const byChannel = new Map<number, Subscription[]>(channelIds.map((id) => [id, []]));
    for (const one of await subscriptionsOfChannels(sql, { accountId, channelIds })) {
      byChannel.get(one.channelId)?.push(one);
    }
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

  return {
    async create(accountId, input) {
      const { subscriptions, ...fields } = wholeChannel(input);
      return store.transaction(async (tx) => {
        // First of all locks, as everywhere.
        await allowance.grow(tx, accountId, 'alertChannels');
        await holdNamedChecks(tx, accountId, subscriptions, []);
        const createdAtMs = clock.wallMs();
        const created = await insertChannel(tx, { accountId, fields, createdAtMs });
        await insertSubscriptions(tx, {
          accountId,
          subscriptions: subscriptions.map((one) => ({ ...one, channelId: created.id })),
        });
        return viewOf(tx, accountId, created);
      });
    },

    async read(accountId, id) {
      const found = await findChannel(store, { accountId, id });
      if (found === null) throw notFound('alert channel');
      return viewOf(store, accountId, found);
    },

    async list(accountId, page) {
      return viewsOf(store, accountId, await listChannels(store, { accountId, ...rangeOf(page) }));
    },

    update(accountId, id, input) {
      return store.transaction(async (tx) => {
        const known = await findChannel(tx, { accountId, id });
        if (known === null) throw notFound('alert channel');
        const isSubscribing = input.subscriptions !== undefined;
        const before = isSubscribing
          ? await subscriptionsOfChannels(tx, { accountId, channelIds: [id] })
          : [];
        // The checks come first, as where a check changes.
        const { subscriptions: named } = changedChannel(known, input);
        if (isSubscribing) await holdNamedChecks(tx, accountId, named, before);
        const stored = await lockChannel(tx, { accountId, id });
        if (stored === null) throw notFound('alert channel');
        const { subscriptions, ...fields } = changedChannel(stored, input);
        if (isSubscribing) {
          await deleteSubscriptionsOfChannel(tx, { accountId, channelId: id });
          await insertSubscriptions(tx, {
            accountId,
            subscriptions: subscriptions.map((one) => ({ ...one, channelId: id })),
          });
        }
        const updatedAtMs = clock.wallMs();
        const updated = await updateChannel(tx, { accountId, id, fields, updatedAtMs });
        if (updated === null) throw notFound('alert channel');
        return viewOf(tx, accountId, updated);
      });
    },

    async remove(accountId, id) {
      if (!(await deleteChannel(store, { accountId, id }))) throw notFound('alert channel');
    },

    async test(accountId, id, signal) {
      const found = await findChannel(store, { accountId, id });
      if (found === null) throw notFound('alert channel');
      const notice = sampleNotice({ alertId: ids(), atMs: clock.wallMs() });
      const { fields: target } = found;
      return sender.send({ deliveryId: ids(), target, notice }, signal);
    },
  };
}

/** The stored fields with those that are given over them. */
function changedChannel({ id, fields }: StoredChannel, input: ChannelInput): AlertChannel {
  const fixed = { id, type: fields.type };
  const given = givenFields(input, { fixed, responseOnly: RESPONSE_ONLY });
  return wholeChannel({ ...fields, ...given, ...configOf(given.config, fields) });
}

function configOf(given: unknown, fields: ChannelFields): { readonly config?: unknown } {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isObject || fields.type !== 'WEBHOOK') return given === undefined ? {} : { config: given };
  return { config: withStoredSecrets(given as ChannelInput, fields.config) };
}

function wholeChannel(fields: ChannelInput): AlertChannel {
  const parsed = parseBody(alertChannelSchema, fields);
  if (!parsed.ok) throw invalid(parsed.problems);
  const channel = parsed.value;
  const problem = channel.type === 'WEBHOOK' ? templateProblemOf(channel.config) : null;
  if (problem !== null) throw invalid([bodyProblem(['config', 'template'], problem)]);
  return channel;
}

/**
 * Until the transaction ends, the checks stay as they are.
 *
 * @throws ServiceError 400 where one is named that there is not, or twice
 */
async function holdNamedChecks(
  tx: Sql,
  accountId: string,
  named: readonly { readonly checkId: string }[],
  before: readonly { readonly checkId: string }[],
): Promise<void> {
  const ids = named.map(({ checkId }) => checkId);
  const all = [...new Set([...ids, ...before.map(({ checkId }) => checkId)])];
  const there = new Set(await holdSubscribers(tx, { accountId, checkIds: all }));
  const firsts = new Map<string, number>();
  const problems = ids.flatMap((id, index): readonly RequestProblem[] => {
    const path = ['subscriptions', index, 'checkId'];
    if (!there.has(id))
      return [bodyProblem(path, 'must be the id of a check: there is no such one')];
    const first = firsts.get(id) ?? index;
    firsts.set(id, first);
    return first < index ? [bodyProblem(path, 'must not name a check twice')] : [];
  });
  if (problems.length > 0) throw invalid(problems);
}
