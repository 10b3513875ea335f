import { randomBytes } from 'node:crypto';
import { normalizeIP } from '@fastify/rate-limit';
import type { Clock } from '../../../runtime/clock.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { conflict, invalid, notFound, ServiceError } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { NameCounts } from '../../outbox/name-counts.ts';
import { emailOf } from '../../users/email.ts';
import { newLinkToken } from '../../users/link-token.ts';
import { addressDigests, sealSubscriber } from './address.ts';
import type { SubscriptionCounters } from './counts.ts';
import { insertConfirmation } from './messages/deliveries.sql.ts';
import type { MessageSender } from './messages/message-sender.ts';
import {
  findSubscriberByAddress,
  insertSubscriber,
  lockSubscribersOfPage,
  type PageKey,
  renewUnconfirmed,
} from './sql.ts';
import type { SubscribeLimits } from './subscribe-limits.ts';
import { createSubscribeThrottle, type SubscribeThrottle } from './throttle.ts';

/** Subscribers of a page at most. */
export const MAX_CONFIRMED = 10_000;
const MAX_UNCONFIRMED = 5_000;
/** Maximum number of concurrent challenges of webhooks in this process and per client, because slow ones block others. */
const MAX_CHALLENGES = { all: 20, client: 3 } as const;
const SECRET_BYTES = 32;

/** The page to which somebody subscribes. */
export interface SubscribedPage extends PageKey {
  readonly name: string;
  /** The base of its links, without a slash at its end. */
  readonly base: string;
  /** Whether it was reached at its own domain. */
  readonly isOnOwnDomain: boolean;
  /** The ids of its services. */
  readonly serviceIds: readonly string[];
}

/** null for all services of the page. */
export type ChosenServices = readonly string[] | null;

/** The ways to subscribe to a status page. */
export interface Subscribe {
  /** null if the page takes emails; else why it does not, in one sentence. */
  emailProblem(page: Pick<SubscribedPage, 'isOnOwnDomain'>): string | null;
  /** null if the page takes webhooks; else why it does not, in one sentence. */
  webhookProblem(): string | null;
  /**
   * Sends a mail with a link to confirm the address. An address that is already subscribed gets another mail: only the
   * owner of the address learns that it is subscribed.
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
   * Sends a challenge to the webhook, and subscribes it if it answers with the challenge.
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
}

const NO_KEY = 'This service stores no addresses: its operator has set no ENCRYPTION_KEY.';
const NO_SMTP = 'This service sends no email: its operator has set no SMTP_URL.';
const NO_URL = 'This service cannot write links into emails: its operator has set no PUBLIC_URL.';

export interface SubscribeParts {
  readonly store: Store;
  readonly clock: Clock;
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
}

export function createSubscribe(parts: SubscribeParts): Subscribe {
  const { store, clock, ids, counters, publicUrl } = parts;
  const offered = offeredBy(parts);
  /** Challenges under way, by client. */
  const challenges = new NameCounts();

  const emailProblem: Subscribe['emailProblem'] = ({ isOnOwnDomain }) => {
    if (offered === null) return NO_KEY;
    if (!offered.sender.sendsMail) return NO_SMTP;
    // Otherwise a Host header, which anybody can send, would determine the links in mails.
    return isOnOwnDomain || publicUrl !== null ? null : NO_URL;
  };

  const webhookProblem = (): string | null => (offered === null ? NO_KEY : null);

  /** @throws ServiceError 409 where subscriptions of the kind are not offered */
  function requireOffered(problem: string | null): Offered {
    if (problem !== null || offered === null) throw conflict(problem ?? NO_KEY);
    return offered;
  }

  /** @throws ServiceError 400 where the webhook does not answer with the challenge */
  async function requireConfirmation(
    sender: MessageSender,
    page: SubscribedPage,
    { url, client }: { readonly url: string; readonly client: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { total } = challenges;
    if (total >= MAX_CHALLENGES.all || challenges.of(client) >= MAX_CHALLENGES.client) {
      throw new ServiceError(503, 'Too many webhooks are being confirmed: try again in a minute', {
        headers: { 'retry-after': '60' },
      });
    }
    challenges.add(client);
    try {
      const challenge = randomBytes(SECRET_BYTES).toString('base64url');
      if (await sender.challenge(page, url, challenge, signal)) return;
    } finally {
      challenges.remove(client);
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
      const { box, throttle } = requireOffered(emailProblem(page));
      const services = requireServicesOf(page, given.services);
      const { accountId, pageId, base } = page;
      await throttle.request(page, client);
      const address = emailOf(given.email);
      const mayMail = await throttle.mayContact('email', address);
      await store.transaction(async (tx) => {
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) throw notFound('status page');
        if (counted.confirmed >= MAX_CONFIRMED || counted.unconfirmed >= MAX_UNCONFIRMED) {
          throw pageFull(counters);
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
      const { box, sender, throttle } = requireOffered(webhookProblem());
      const services = requireServicesOf(page, given.services);
      const { accountId, pageId, base } = page;
      const { url: address } = given;
      await throttle.request(page, client);
      if (!(await throttle.mayContact('webhook', address))) {
        throw new ServiceError(429, 'Too many webhooks of this host; try again in an hour', {
          headers: { 'retry-after': '3600' },
        });
      }
      const challenged = { url: address, client: normalizeIP(client) };
      await requireConfirmation(sender, page, challenged, signal);
      return await store.transaction(async (tx) => {
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) throw notFound('status page');
        if (counted.confirmed >= MAX_CONFIRMED) throw pageFull(counters);
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
  };
}

/** The requirements of every subscription. */
interface Offered {
  readonly box: SecretBox;
  readonly sender: MessageSender;
  readonly throttle: SubscribeThrottle;
}

/** null without a key. */
function offeredBy(parts: SubscribeParts): Offered | null {
  const { store, clock, secrets: box, sender, counters, limits } = parts;
  if (box === null || sender === null) return null;
  const { refused } = counters;
  const throttle = createSubscribeThrottle({ store, clock, secrets: box, limits, refused });
  return { box, sender, throttle };
}

/** 409: the page has as many subscribers as it may. */
export function pageFull(counters: SubscriptionCounters): ServiceError {
  counters.refused('full');
  return conflict('The page has reached its limit of subscribers: use its feed instead');
}

/** @throws ServiceError 400 for services that the page does not have */
export function requireServicesOf(
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
