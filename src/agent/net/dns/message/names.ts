import { domainToASCII } from 'node:url';

/**
 * Names in memory: presentation form, absolute, with the trailing dot (`example.com.`; the root is
 * `.`). Special characters in a name from the wire are escaped, so that a dot inside a label, a
 * quote or a control character cannot be mistaken for something else.
 */

/** Characters that have a meaning in a zone file; printed with a backslash before them. */
const QUOTED = new Set(Array.from('".;()@$\\', (char) => char.charCodeAt(0)));

/** How each byte of a label is printed: itself, \X or \DDD (RFC 1035 5.1, RFC 4343 2.1). */
const LABEL_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f) return decimalEscape(byte);
  return QUOTED.has(byte) ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
});

/** `\DDD`, the byte's value in three decimal digits. */
export function decimalEscape(byte: number): string {
  return `\\${String(byte).padStart(3, '0')}`;
}

/** The label in `bytes` from `start` to before `end`, in presentation form. */
export function labelText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at += 1) text += LABEL_BYTES[bytes[at] ?? 0];
  return text;
}

/** DNS names are compared without the case of ASCII letters (RFC 4343). */
export function sameName(left: string, right: string): boolean {
  return left === right || left.toLowerCase() === right.toLowerCase();
}

const MAX_LABEL_OCTETS = 63;
/** 255 octets on the wire (RFC 1035 2.3.4) are 253 characters of text without the last dot. */
const MAX_NAME_CHARS = 253;
const PLAIN_LABEL = /^[!#%&'*+,\-/0-9:<=>?A-Z[\]^_`a-z{|}~]+$/;

/**
 * Makes a name that a user wrote absolute: converts IDN labels to ASCII (RFC 5891, by node:url) and
 * adds the trailing dot. null if it cannot be queried: an empty or too long label, more than 253
 * characters, or characters that would need an escape.
 */
export function absoluteName(text: string): string | null {
  if (text === '.') return '.';
  const ascii = isAscii(text) ? text : domainToASCII(text);
  const bare = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (bare.length === 0 || bare.length > MAX_NAME_CHARS) return null;
  const valid = bare
    .split('.')
    .every((label) => label.length <= MAX_LABEL_OCTETS && PLAIN_LABEL.test(label));
  return valid ? `${bare}.` : null;
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\u0000-\u007f]*$/.test(text);
}

/** A name for messages, without the trailing dot of absolute names. */
export function displayName(name: string): string {
  return name === '.' ? name : name.replace(/\.$/, '');
}
