import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import { everyHour, removeInBatches, removePastRetention } from '../../database/retention.ts';
import type { Store } from '../../database/store.ts';
import { conflict, invalid, notFound, ServiceError } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { emailOf } from '../../users/email.ts';
import { hashOfLinkToken, newLinkToken } from '../../users/link-token.ts';
import { addressDigests, openSubscriber, sealSubscriber } from './address.ts';
import type { SubscriptionCounters } from './counts.ts';
import { deleteMessagesBefore, insertConfirmation } from './deliveries.sql.ts';
import type { MessageSender } from './message-sender.ts';
import { resealSubscribers } from './reseal.ts';
import {
  changeServicesOf,
  confirmSubscriber,
  deleteSubscriberByToken,
  deleteUnconfirmedBefore,
  findSubscriberByAddress,
  findSubscriberByToken,
  insertSubscriber,
  lockSubscribersOfPage,
  type PageKey,
  renewUnconfirmed,
  type StoredSubscriber,
  type SubscriberKind,
  type TokenOfPage,
} from './sql.ts';
import type { SubscribeLimits } from './subscribe-limits.ts';
import { deleteCountsBefore } from './throttle.sql.ts';
import { createSubscribeThrottle, DAY_MS } from './throttle.ts';

/** Of a page. */
const MAX_CONFIRMED = 10_000;
const MAX_UNCONFIRMED = 5_000;
/** Webhooks that are asked at once in this process: each may take as long as a message. */
const MAX_CHALLENGES = 20;
const SECRET_BYTES = 32;
const ROWS_AT_ONCE = 1_000;

/** A page that somebody looks at. */
export interface SubscribedPage extends PageKey {
  readonly name: string;
  /** The base of its links, without a slash at its end. */
  readonly base: string;
  /** Whether it was reached at its own domain. */
  readonly isOnOwnDomain: boolean;
  /** The ids of its services. */
  readonly serviceIds: readonly string[];
}

/** A subscription as its subscriber sees it. */
export interface Subscription {
  readonly kind: SubscriberKind;
  readonly address: string;
  readonly isConfirmed: boolean;
  /** null for all services of the page. */
  readonly serviceIds: readonly string[] | null;
}

/** null for all services of the page. */
type ChosenServices = readonly string[] | null;

/** Subscriptions to status pages, as anybody may have them: src/service/README.md, "Subscribers". */
export interface Subscriptions {
  /** null where the page takes emails; else why it does not, in one sentence. */
  emailProblem(page: Pick<SubscribedPage, 'isOnOwnDomain'>): string | null;
  /** The same for webhooks. */
  webhookProblem(): string | null;
  /**
   * Sends a mail by which the address is confirmed. Does the same for an address that is subscribed,
   * which gets another mail: only who has the address learns it.
   *
   * @param client its IP address
   * @throws ServiceError 429 for too many requests, 409 where the page takes no further subscribers
   */
  subscribeEmail(
    page: SubscribedPage,
    given: { readonly email: string; readonly services: ChosenServices },
    client: string,
  ): Promise<void>;
  /**
   * Asks the webhook, and subscribes it where it answers with the challenge.
   *
   * @param url as `webhookUrlOf` returns it
   * @returns the key of its signatures, which is shown only once, and the token of its links
   * @throws ServiceError 429 for too many requests, 409 where the page takes no further subscribers,
   *   400 where the webhook does not confirm
   */
  subscribeWebhook(
    page: SubscribedPage,
    given: { readonly url: string; readonly services: ChosenServices },
    client: string,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly secret: string; readonly token: string }>;
  /** null for a token that names no subscriber of the page. */
  find(page: PageKey, token: string): Promise<Subscription | null>;
  /** @throws ServiceError 409 where the page takes no further subscribers */
  confirm(page: PageKey, token: string): Promise<Subscription | null>;
  /** @throws ServiceError 400 for services that the page does not have */
  changeServices(
    page: SubscribedPage,
    token: string,
    services: ChosenServices,
  ): Promise<Subscription | null>;
  /** Does nothing for a token that names no subscriber. */
  unsubscribe(page: PageKey, token: string): Promise<void>;
  /**
   * Until the signal aborts, deletes what is too old (unconfirmed addresses, counts, messages), and
   * encrypts with the newest key.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

export interface SubscriptionsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** null: nobody can subscribe, as addresses are stored encrypted only. */
  readonly secrets: SecretBox | null;
  /** null without a key. */
  readonly sender: MessageSender | null;
  readonly counters: SubscriptionCounters;
  readonly limits: SubscribeLimits;
  /** PUBLIC_URL; null: mails have links only to pages on their own domains. */
  readonly publicUrl: string | null;
  /** Whole days, of the messages. */
  readonly retentionDays: number;
}

const NO_KEY = 'This service stores no addresses: its operator has set no ENCRYPTION_KEY.';
const NO_SMTP = 'This service sends no mail: its operator has set no SMTP_URL.';
const NO_URL = 'This service cannot write links into mails: its operator has set no PUBLIC_URL.';

export function createSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { store, clock, log, ids, secrets, sender, counters, limits } = parts;
  const { publicUrl, retentionDays } = parts;
  const throttle =
    secrets === null
      ? null
      : createSubscribeThrottle({ store, clock, secrets, limits, refused: counters.refused });
  let challenges = 0;

  const emailProblem: Subscriptions['emailProblem'] = ({ isOnOwnDomain }) => {
    if (secrets === null) return NO_KEY;
    if (sender === null || !sender.sendsMail) return NO_SMTP;
    // Else a Host header, which anybody can send, would decide where links of mails lead.
    return isOnOwnDomain || publicUrl !== null ? null : NO_URL;
  };

  const webhookProblem = (): string | null => (secrets === null ? NO_KEY : null);

  /** @throws ServiceError 409 where subscriptions of the kind are not offered */
  function requireOffered(problem: string | null) {
    if (problem !== null || secrets === null || sender === null || throttle === null) {
      throw conflict(problem ?? NO_KEY);
    }
    return { box: secrets, sender, throttle };
  }

  function tokenOf({ accountId, pageId }: PageKey, token: string): TokenOfPage {
    const unconfirmedSinceMs = clock.wallMs() - DAY_MS;
    return { accountId, pageId, tokenHash: hashOfLinkToken(token), unconfirmedSinceMs };
  }

  function shown(accountId: string, found: StoredSubscriber | null): Subscription | null {
    if (found === null || secrets === null) return null;
    const { address } = openSubscriber(secrets, accountId, found);
    const { kind, confirmedAt, serviceIds } = found;
    return { kind, address, isConfirmed: confirmedAt !== null, serviceIds };
  }

  function full(): ServiceError {
    counters.refused('full');
    return conflict('The page takes no further subscribers now: use its feed instead');
  }

  async function challengeOnce(
    asking: MessageSender,
    page: SubscribedPage,
    url: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (challenges >= MAX_CHALLENGES) {
      throw new ServiceError(503, 'Too many webhooks are being confirmed: try again in a minute', {
        headers: { 'retry-after': '60' },
      });
    }
    challenges += 1;
    try {
      const challenge = randomBytes(SECRET_BYTES).toString('base64url');
      if (await asking.challenge(page, url, challenge, signal)) return;
    } finally {
      challenges -= 1;
    }
    counters.refused('challenge');
    throw invalid([
      bodyProblem(
        ['url'],
        'must be a public address that answers the POST of a challenge with a status below 300 and the value of its field "challenge" alone',
      ),
    ]);
  }

  return {
    emailProblem,
    webhookProblem,

    async subscribeEmail(page, given, client) {
      const { box, throttle: counting } = requireOffered(emailProblem(page));
      const services = requireServicesOf(page, given.services);
      const { accountId, pageId, base } = page;
      await counting.request(page, client);
      const address = emailOf(given.email);
      const mayMail = await counting.mayContact('email', address);
      await store.transaction(async (tx) => {
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) throw notFound('status page');
        if (counted.confirmed >= MAX_CONFIRMED || counted.unconfirmed >= MAX_UNCONFIRMED) {
          throw full();
        }
        const digests = addressDigests(box, 'email', address);
        const createdAtMs = clock.wallMs();
        const fields = { serviceIds: services, base, createdAtMs };
        const known = await findSubscriberByAddress(tx, { accountId, pageId, digests });
        const id = known?.id ?? ids();
        if (known === null) {
          const { token, tokenHash } = newLinkToken();
          const sealed = sealSubscriber(
            box,
            { accountId, id },
            { address, token, signingKey: null },
          );
          await insertSubscriber(tx, {
            ...{ accountId, pageId, id, kind: 'email', sealed, tokenHash, ...fields },
            addressDigest: digests[0],
            confirmedAtMs: null,
          });
        } else {
          await renewUnconfirmed(tx, { accountId, id, ...fields });
        }
        if (!mayMail) return;
        await insertConfirmation(tx, { id: ids(), accountId, subscriberId: id, atMs: createdAtMs });
      });
    },

    async subscribeWebhook(page, given, client, signal) {
      const { box, sender: asking, throttle: counting } = requireOffered(webhookProblem());
      const services = requireServicesOf(page, given.services);
      const { accountId, pageId, base } = page;
      const { url: address } = given;
      await counting.request(page, client);
      if (!(await counting.mayContact('webhook', address))) {
        throw new ServiceError(429, 'Too many webhooks of this host; try again in an hour', {
          headers: { 'retry-after': '3600' },
        });
      }
      await challengeOnce(asking, page, address, signal);
      return await store.transaction(async (tx) => {
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) throw notFound('status page');
        if (counted.confirmed >= MAX_CONFIRMED) throw full();
        const digests = addressDigests(box, 'webhook', address);
        const known = await findSubscriberByAddress(tx, { accountId, pageId, digests });
        if (known !== null) {
          throw conflict(
            'The webhook is subscribed already: unsubscribe it first to get a new key',
          );
        }
        const id = ids();
        const { token, tokenHash } = newLinkToken();
        const signingKey = randomBytes(SECRET_BYTES).toString('base64url');
        const nowMs = clock.wallMs();
        await insertSubscriber(tx, {
          ...{ accountId, pageId, id, kind: 'webhook', tokenHash, serviceIds: services, base },
          sealed: sealSubscriber(box, { accountId, id }, { address, token, signingKey }),
          addressDigest: digests[0],
          confirmedAtMs: nowMs,
          createdAtMs: nowMs,
        });
        return { id, secret: signingKey, token };
      });
    },

    async find(page, token) {
      return shown(page.accountId, await findSubscriberByToken(store, tokenOf(page, token)));
    },

    async confirm(page, token) {
      const named = tokenOf(page, token);
      const found = await store.transaction(async (tx) => {
        const known = await findSubscriberByToken(tx, named);
        if (known === null || known.confirmedAt !== null) return known;
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) return null;
        if (counted.confirmed >= MAX_CONFIRMED) throw full();
        return await confirmSubscriber(tx, { ...named, nowMs: clock.wallMs() });
      });
      return shown(page.accountId, found);
    },

    async changeServices(page, token, services) {
      const serviceIds = requireServicesOf(page, services);
      const found = await changeServicesOf(store, { ...tokenOf(page, token), serviceIds });
      return shown(page.accountId, found);
    },

    unsubscribe: (page, token) => deleteSubscriberByToken(store, tokenOf(page, token)),

    async maintain(signal) {
      const inBatches = (remove: (old: { beforeMs: number; limit: number }) => Promise<number>) => {
        const beforeMs = clock.wallMs() - DAY_MS;
        return removeInBatches(ROWS_AT_ONCE, (limit) => remove({ beforeMs, limit }), signal);
      };
      await everyHour(
        { clock, log },
        'old subscriptions and messages to subscribers could not be removed, or addresses not be encrypted anew',
        async () => {
          if (secrets !== null) await resealSubscribers({ store, secrets }, signal);
          await inBatches((old) => deleteUnconfirmedBefore(store, old));
          await inBatches((old) => deleteCountsBefore(store, old));
          await removePastRetention(
            { clock, retentionDays },
            ROWS_AT_ONCE,
            (old) => deleteMessagesBefore(store, old),
            signal,
          );
        },
        signal,
      );
    },
  };
}

/** @throws ServiceError 400 for services that the page does not have */
function requireServicesOf(
  { serviceIds }: Pick<SubscribedPage, 'serviceIds'>,
  chosen: ChosenServices,
): ChosenServices {
  if (chosen === null) return null;
  const known = new Set(serviceIds);
  const unique = [...new Set(chosen)];
  if (unique.length === 0) {
    throw invalid([bodyProblem(['services'], 'must name a service, or be omitted for all')]);
  }
  if (unique.some((id) => !known.has(id))) {
    throw invalid([bodyProblem(['services'], 'must be the ids of services of this page')]);
  }
  return unique;
}
