import {
  AMPERSAND,
  BACKSLASH,
  BASE64_VALUES,
  IS_MARKER,
  mayEscape,
  PERCENT,
  PLUS,
} from '../search/bytes-of-text.ts';

const MARKERS = [BACKSLASH, PERCENT, AMPERSAND];
/** In `kindsOfBytes`, that one of the three bytes is a plus which may stand for a space. */
export const HAS_PLUS = 64;

/**
 * By a digit of base64 and the one before it, what the three bytes that end in it are: whether
 * digits of base64 themselves, in the lowest three bits, and whether markers of escapes, in the next
 * three. A byte that begins with the first bit of the digit before ends after two bits of the digit
 * (bits 2 and 5); one that begins with its third bit after four (1 and 4); and one that begins with
 * its fifth bit after six (0 and 3).
 */
function kindsTable(hasPlus: boolean): Uint8Array {
  const kindOf = (byte: number): number =>
    (MARKERS.includes(byte) ? 8 : 0) | ((BASE64_VALUES[byte] ?? 64) < 64 ? 1 : 0);
  return Uint8Array.from({ length: 4096 }, (_, bits) => {
    const bytes = [bits >> 4, bits >> 2, bits].map((byte) => byte & 255);
    const plus = hasPlus && bytes.includes(PLUS) ? HAS_PLUS : 0;
    return bytes.reduce((sum, byte) => sum * 2 + kindOf(byte), 0) | plus;
  });
}
const KINDS = kindsTable(false);
const KINDS_WITH_PLUS = kindsTable(true);

/** @param hasPlus whether a plus may stand for a space */
export function kindsOfBytes(hasPlus: boolean): Uint8Array {
  return hasPlus ? KINDS_WITH_PLUS : KINDS;
}

/** Of the markers that ended in the last three digits, those whose next byte ends in the last. */
export const MARKERS_BEFORE_LAST = 0x70;

/** Whether two bytes may begin an escape, or the last of them is one, a plus. */
export function isEscapePair(bytes: number, hasPlus: boolean): boolean {
  const marker = (bytes >>> 8) & 255;
  const last = bytes & 255;
  return (hasPlus && last === PLUS) || (IS_MARKER[marker] === 1 && mayEscape(marker, last));
}

/** Of the bits of digits that are told by `kindsOfBytes`, those of bytes that end after two bits. */
export const BASE64_OF_FIRST = 0x444444;

/** Whether six bytes on end are digits of base64: in each fourth digit, none ends. */
export function isSix(base64: number): boolean {
  const three = base64 & (base64 >>> 4) & (base64 >>> 8);
  return (three & (three >>> 12) & 7) !== 0;
}
