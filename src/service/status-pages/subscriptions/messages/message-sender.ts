import type { Clock } from '../../../../runtime/clock.ts';
import { messageOf } from '../../../../runtime/errors.ts';
import type { AddressGuard } from '../../../../runtime/net/address-guard.ts';
import type { Proxies } from '../../../../runtime/net/proxy/choose-proxy.ts';
import type { SecretBox } from '../../../../runtime/secret-box.ts';
import { createMailer, type MailOutcome } from '../../../outgoing/mailer.ts';
import type { Smtp } from '../../../outgoing/outgoing-config.ts';
import { createOutgoingHttp, type HttpOutcome } from '../../../outgoing/outgoing-http.ts';
import { guardedAddresses } from '../../../outgoing/reachable-addresses.ts';
import { notSent, SEND_LIMIT_MS } from '../../../outgoing/send-outcome.ts';
import { signedHeaders } from '../../../outgoing/signed-headers.ts';
import { openSubscriber, type SubscriberSecrets } from '../address.ts';
import type { SubscriberKind } from '../sql.ts';
import type { AnnouncedUpdate } from './announcements.sql.ts';
import type { ClaimedMessage } from './deliveries.sql.ts';
import {
  alreadySubscribedMail,
  CHALLENGE_TYPE,
  challengePayload,
  confirmationMail,
  type MessagePage,
  updateMail,
  updatePayload,
} from './message-content.ts';
import { type Attempt, type FailureCause, failedByService } from './message-outcome.ts';

const GONE = 410;
/** Time limit for the answer of a webhook to a challenge; short, because the user waits for it. */
const CHALLENGE_LIMIT_MS = 10_000;
/** To the mail server: many take at most 50 of a client. */
const MAX_CONNECTIONS = 40;
/** Messages that this process sends at once, by kind: as many mails as there are connections. */
export const MAX_SENDING: Readonly<Record<SubscriberKind, number>> = {
  email: MAX_CONNECTIONS,
  webhook: 50,
};

/** Sends single messages to subscribers. */
export interface MessageSender {
  readonly sendsMail: boolean;
  /**
   * Never rejects; resolves within `SEND_LIMIT_MS`.
   *
   * @param update null for the mail that asks to confirm the address
   */
  send(
    message: ClaimedMessage,
    update: AnnouncedUpdate | null,
    signal: AbortSignal,
  ): Promise<Attempt>;
  /**
   * Asks a webhook whether it wants messages.
   *
   * @returns whether it answered with the challenge
   */
  challenge(
    page: Pick<MessagePage, 'name' | 'base'>,
    url: string,
    challenge: string,
    signal: AbortSignal,
  ): Promise<boolean>;
  close(): Promise<void>;
}

export interface MessageSenderParts {
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly smtp: Smtp | null;
  /** The addresses that webhooks may have. */
  readonly guard: AddressGuard;
  readonly proxies: Proxies;
  readonly publicUrl: string | null;
}

export function createMessageSender(parts: MessageSenderParts): MessageSender {
  const { clock, secrets, smtp, guard, proxies, publicUrl } = parts;
  const http = createOutgoingHttp(
    guardedAddresses(guard, 'subscribers have public addresses'),
    proxies,
  );
  const mailer = smtp === null ? null : createMailer(smtp, { maxConnections: MAX_CONNECTIONS });

  async function withLimit<T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = SEND_LIMIT_MS,
  ): Promise<T> {
    const limit = new AbortController();
    const cancel = clock.after(limitMs, () => limit.abort());
    try {
      return await work(AbortSignal.any([signal, limit.signal]));
    } finally {
      cancel();
    }
  }

  async function mailTo(
    { address }: SubscriberSecrets,
    { id, isConfirmed }: ClaimedMessage,
    page: MessagePage,
    update: AnnouncedUpdate | null,
    signal: AbortSignal,
  ): Promise<Attempt> {
    if (mailer === null) {
      const error = 'this service sends no email: SMTP_URL is not set';
      return failedByService(notSent(error, { isFinal: true }));
    }
    const ask = isConfirmed ? alreadySubscribedMail : confirmationMail;
    const content = update === null ? ask(page) : updateMail(page, update);
    const sent = await mailer.send({ deliveryId: id, to: address, ...content }, signal);
    return { sent, cause: mailFailureCause(sent) };
  }

  async function post(
    { address, signingKey }: SubscriberSecrets,
    { id }: ClaimedMessage,
    page: MessagePage,
    update: AnnouncedUpdate,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const body = updatePayload(page, update, id);
    const atMs = clock.wallMs();
    const headers = {
      'content-type': 'application/json',
      ...signedHeaders({ deliveryId: id, body, secret: signingKey, atMs }),
    };
    const url = new URL(address);
    const sent = await http.send({ method: 'POST', url, headers, body, isGuarded: true }, signal);
    return { sent, cause: webhookFailureCause(sent) };
  }

  return {
    sendsMail: mailer !== null,

    async send(message, update, signal) {
      const { accountId, subscriberId: id, sealed, pageName } = message;
      try {
        const subscriber = openSubscriber(secrets, accountId, { id, sealed });
        const base = baseOfMessage(message, publicUrl);
        const page = { name: pageName, base, token: subscriber.token };
        return await withLimit(signal, (ended) =>
          message.kind === 'webhook' && update !== null
            ? post(subscriber, message, page, update, ended)
            : mailTo(subscriber, message, page, update, ended),
        );
      } catch (thrown) {
        return failedByService(notSent(`the message could not be made: ${messageOf(thrown)}`));
      }
    },

    challenge: (page, address, challenge, signal) =>
      withLimit(
        signal,
        async (ended) => {
          const sent = await http.send(
            {
              method: 'POST',
              url: new URL(address),
              headers: { 'content-type': 'application/json' },
              body: challengePayload(page, challenge),
              isGuarded: true,
            },
            ended,
          );
          return sent.ok && sent.answer !== null && confirmsChallenge(sent.answer, challenge);
        },
        CHALLENGE_LIMIT_MS,
      ),

    async close() {
      mailer?.close();
      await http.close();
    },
  };
}

function mailFailureCause(sent: MailOutcome): FailureCause | null {
  if (sent.ok) return null;
  if (sent.refusesAddress) return 'bounce';
  return sent.isOfRecipient ? 'receiver' : 'service';
}

function webhookFailureCause(sent: HttpOutcome): FailureCause | null {
  if (sent.ok) return null;
  if (sent.status === GONE) return 'gone';
  return sent.isOfReceiver ? 'receiver' : 'service';
}

/** Accepts the challenge as text or in a JSON object, but not an echo of the payload: many servers repeat any body. */
function confirmsChallenge(answer: string, challenge: string): boolean {
  if (answer.trim() === challenge) return true;
  try {
    const given = Object(JSON.parse(answer));
    return given.challenge === challenge && given.type !== CHALLENGE_TYPE;
  } catch {
    return false;
  }
}

/** The base of links now: the page may have moved since somebody subscribed. */
export function baseOfMessage(
  { base, pageUrl, customDomain }: Pick<ClaimedMessage, 'base' | 'pageUrl' | 'customDomain'>,
  publicUrl: string | null,
): string {
  if (customDomain !== null && new URL(base).hostname === customDomain) return base;
  if (publicUrl !== null) return `${publicUrl.replace(/\/+$/, '')}/status/${pageUrl}`;
  return base.replace(/\/status\/[^/]+$/, `/status/${pageUrl}`);
}
