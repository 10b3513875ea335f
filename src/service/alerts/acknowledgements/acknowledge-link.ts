import { timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { AlertNotice } from '../notice.ts';
import { incidentActionOf } from '../senders/incident-key.ts';

/** The alert that a link acknowledges, in the name of a channel. */
interface LinkSubject {
  readonly alertId: string;
  readonly channelId: number;
}

const PURPOSE = 'acknowledgement of an alert';
/** The part of HMAC-SHA256 that is used; RFC 2104 section 5 requires at least half of it. */
const MAC_BYTES = 16;
/** Hexadecimal digits, so that no chat interprets a part of a link as markup. */
const TOKEN = /^([0-9a-f-]{36})\.([1-9][0-9]{0,14})\.([0-9a-f]{32})$/;

/** Signed by the newest key that all replicas have. */
export function acknowledgeToken(box: SecretBox, subject: LinkSubject): string {
  const [newest] = macsOf(box, subject);
  return `${subject.alertId}.${subject.channelId}.${newest?.toString('hex') ?? ''}`;
}

/** @returns null unless a key of the service signed the token */
export function readAcknowledgeToken(box: SecretBox, token: string): LinkSubject | null {
  const [, alertId = '', channelId = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (mac === '') return null;
  const subject = { alertId, channelId: Number(channelId) };
  const given = Buffer.from(mac, 'hex');
  return macsOf(box, subject).some((known) => timingSafeEqual(known, given)) ? subject : null;
}

function macsOf(box: SecretBox, { alertId, channelId }: LinkSubject): readonly Buffer[] {
  const text = JSON.stringify([alertId, channelId]);
  return box.digests(text, PURPOSE).map((digest) => digest.subarray(0, MAC_BYTES));
}

/**
 * The page on which the recipients of a notice acknowledge its alert.
 *
 * @returns null if there is none: without PUBLIC_URL or an encryption key, and for notices of certificates,
 *   locations, problems of monitoring itself and recoveries
 */
export function acknowledgeLink(
  { publicUrl, secrets }: { readonly publicUrl: string | null; readonly secrets: SecretBox | null },
  channelId: number,
  notice: AlertNotice,
): string | null {
  if (publicUrl === null || secrets === null || !isAcknowledgeable(notice)) return null;
  const { alertId } = notice;
  return `${publicUrl}/acknowledge/${acknowledgeToken(secrets, { alertId, channelId })}`;
}

function isAcknowledgeable(notice: AlertNotice): boolean {
  const { alertType, location, problem } = notice;
  if (location !== undefined || problem !== undefined || alertType === 'ALERT_SSL') return false;
  return incidentActionOf(notice) === 'trigger';
}
