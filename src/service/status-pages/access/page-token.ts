import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PageGate } from './page-gate.sql.ts';

const TOKEN_SECONDS = 7 * 86_400;
/** How long the cookie of a page token marks the browser as one that knows the page. */
export const DEVICE_SECONDS = 365 * 86_400;

/** Used for a page that does not exist, so that checking a page token takes the same time. */
const NO_PAGE: PageGate = { accountId: '', id: '', isPrivate: true, passwordHash: null };
const NO_PASSWORD = randomBytes(32).toString('hex');

/**
 * Creates a page token, which a reader gets for the password. It contains its expiry and an HMAC keyed with the
 * stored hash, so a new password invalidates all page tokens.
 */
export function pageTokenFor(gate: PageGate, nowMs: number): string {
  const end = String(Math.floor(nowMs / 1_000) + TOKEN_SECONDS);
  return `${end}.${macOf(gate, end)}`;
}

/** Takes the same time for a page that does not exist, or has no password. */
export function isPageToken(gate: PageGate | null, token: string, nowMs: number): boolean {
  const endMs = endOf(gate, token);
  return endMs !== null && endMs > nowMs;
}

/**
 * Returns the name of a browser in which the page's current password was right within DEVICE_SECONDS, from its
 * token, which may have expired; null for any other. Takes the same time for a page that does not exist.
 */
export function deviceOf(gate: PageGate | null, token: string, nowMs: number): string | null {
  const endMs = endOf(gate, token);
  if (endMs === null || endMs + (DEVICE_SECONDS - TOKEN_SECONDS) * 1_000 <= nowMs) return null;
  return String(endMs);
}

/** When the token expires; null if it is not a token of the page. */
function endOf(gate: PageGate | null, token: string): number | null {
  const [end = '', mac = ''] = token.split('.');
  const expected = Buffer.from(macOf(gate ?? NO_PAGE, end));
  const given = Buffer.from(mac);
  const isRight = given.length === expected.length && timingSafeEqual(given, expected);
  return isRight && gate !== null && gate.passwordHash !== null ? Number(end) * 1_000 : null;
}

function macOf({ accountId, id, passwordHash }: PageGate, end: string): string {
  return createHmac('sha256', passwordHash ?? NO_PASSWORD)
    .update(JSON.stringify(['status page', accountId, id, end]))
    .digest('base64url');
}
