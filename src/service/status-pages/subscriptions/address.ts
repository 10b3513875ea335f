import type { SecretBox } from '../../../runtime/secret-box.ts';
import { emailOf } from '../../users/email.ts';
import type { StoredSubscriber, SubscriberKind } from './sql.ts';

const MAX_URL_CHARS = 2048;
/** Below this, other protocols than HTTP have their ports. */
const FIRST_FREE_PORT = 1024;
const HTTP_PORTS = ['', '80', '443'];

/** The encrypted part of a subscriber. */
export interface SubscriberSecrets {
  /** An email address, or the URL of a webhook. */
  readonly address: string;
  /** Names the subscriber in the links of messages. */
  readonly token: string;
  /** Signs the messages of a webhook; null for email. */
  readonly signingKey: string | null;
}

export function sealSubscriber(
  box: SecretBox,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  secrets: SubscriberSecrets,
): Buffer {
  return box.seal(JSON.stringify(secrets), placeOf(accountId, id));
}

/** @throws VedetteError where no key decrypts it */
export function openSubscriber(
  box: SecretBox,
  accountId: string,
  { id, sealed }: Pick<StoredSubscriber, 'id' | 'sealed'>,
): SubscriberSecrets {
  return JSON.parse(box.open(sealed, placeOf(accountId, id)));
}

function placeOf(accountId: string, id: string): readonly string[] {
  return ['status_page_subscribers', accountId, id];
}

/** The digests by which a subscriber is found without decrypting, one for each key. */
export function addressDigests(
  box: SecretBox,
  kind: SubscriberKind,
  address: string,
): readonly [Buffer, ...(readonly Buffer[])] {
  return box.digests(JSON.stringify([kind, address]), 'subscriber address');
}

/**
 * The URL of a webhook as it is stored.
 *
 * @returns null if the text cannot be the URL of a webhook
 */
export function webhookUrlOf(text: string): string | null {
  const given = text.trim();
  if (given.length > MAX_URL_CHARS || !/^https?:\/\//i.test(given) || !URL.canParse(given)) {
    return null;
  }
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') return null;
  if (!HTTP_PORTS.includes(url.port) && Number(url.port) < FIRST_FREE_PORT) return null;
  url.hash = '';
  return url.href;
}

/** Domains of one provider, which ignores dots in the names of its mailboxes. */
const WITHOUT_DOTS = ['gmail.com', 'googlemail.com'];

/**
 * Returns the subject for throttling: the host of a URL, or the mailbox of an email address without its tag
 * (RFC 5233) and dots. Used only for counting: mails are sent to the address as given.
 */
export function throttleAddressOf(kind: SubscriberKind, address: string): string {
  // With the dot of the root it is the same host.
  if (kind === 'webhook') return new URL(address).hostname.replace(/\.$/, '');
  const [name = '', domain = ''] = emailOf(address).split('@');
  const mailbox = name.replace(/\+.*/, '');
  return WITHOUT_DOTS.includes(domain)
    ? `${mailbox.replaceAll('.', '')}@${WITHOUT_DOTS[0]}`
    : `${mailbox}@${domain}`;
}

/** Masks an address so that a person who knows it can recognise it. */
export function maskedAddress(kind: SubscriberKind, address: string): string {
  if (kind === 'webhook') return `${new URL(address).origin}/…`;
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}…${address.slice(at)}`;
}
