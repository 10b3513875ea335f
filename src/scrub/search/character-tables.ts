export const BACKSLASH = 0x5c;
export const PERCENT = 0x25;
export const AMPERSAND = 0x26;
export const PLUS = 0x2b;
export const SEMICOLON = 0x3b;
export const EQUALS = 0x3d;

/** The value of a hexadecimal digit; 16 for other bytes. */
export const HEX_VALUES: Uint8Array = new Uint8Array(256).fill(16);
/** The value of a digit of base64 or base64url (RFC 4648 4 and 5); 64 for other bytes. */
export const BASE64_VALUES: Uint8Array = new Uint8Array(256).fill(64);
/** 1 for the bytes that begin an escape, except `+`. */
export const IS_MARKER: Uint8Array = new Uint8Array(256);
/** The same, and 2 for `+`. */
export const MARKER_KINDS: Uint8Array = new Uint8Array(256);
/** The bytes that may follow a marker in an escape: one bit per marker. */
const FOLLOWS = new Uint8Array(256);

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const AFTER_BACKSLASH = 1;
const AFTER_PERCENT = 2;
const AFTER_AMPERSAND = 4;

for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  HEX_VALUES[digit.charCodeAt(0)] = value;
  HEX_VALUES[digit.toUpperCase().charCodeAt(0)] = value;
}
for (const [value, digit] of [...BASE64].entries()) BASE64_VALUES[digit.charCodeAt(0)] = value;
BASE64_VALUES[0x2d] = 62;
BASE64_VALUES[0x5f] = 63;
for (const marker of [BACKSLASH, PERCENT, AMPERSAND]) IS_MARKER[marker] = 1;
MARKER_KINDS.set(IS_MARKER);
MARKER_KINDS[PLUS] = 2;
for (let byte = 0x20; byte < 0x7f; byte += 1) {
  const isAlphanumeric = /[A-Za-z0-9]/.test(String.fromCharCode(byte));
  let follows = 0;
  if (!isAlphanumeric || 'bfnrtuvx'.includes(String.fromCharCode(byte))) follows |= AFTER_BACKSLASH;
  if ((HEX_VALUES[byte] ?? 16) < 16) follows |= AFTER_PERCENT;
  if (/[A-Za-z#]/.test(String.fromCharCode(byte))) follows |= AFTER_AMPERSAND;
  // Nested escapes.
  if (byte === BACKSLASH || byte === PERCENT || byte === AMPERSAND) {
    follows |= AFTER_PERCENT | AFTER_AMPERSAND;
  }
  FOLLOWS[byte] = follows;
}

/** Whether an escape may begin with these two bytes. The first is a marker. */
export function mayEscape(marker: number, follower: number): boolean {
  const follows = FOLLOWS[follower] ?? 0;
  if (marker === BACKSLASH) return (follows & AFTER_BACKSLASH) !== 0;
  return (follows & (marker === PERCENT ? AFTER_PERCENT : AFTER_AMPERSAND)) !== 0;
}
