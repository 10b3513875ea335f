import {
  AMPERSAND,
  BACKSLASH,
  BASE64_VALUES,
  IS_MARKER,
  mayEscape,
  PERCENT,
  PLUS,
} from '../search/character-tables.ts';

const MARKERS = [BACKSLASH, PERCENT, AMPERSAND];
/** In `kindsOfBytes`: one of the three bytes is a plus that may encode a space. */
export const HAS_PLUS = 64;

/**
 * By two consecutive base64 digits, the kinds of the three bytes that end in the second one:
 * whether they are base64 digits themselves (the lowest three bits), and whether they are markers
 * of escapes (the next three). A byte that begins with the first bit of the first digit ends after
 * two bits of the second (bits 2 and 5), with the third bit after four (1 and 4), with the fifth
 * bit after six (0 and 3).
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

/** @param hasPlus whether a plus may encode a space */
export function kindsOfBytes(hasPlus: boolean): Uint8Array {
  return hasPlus ? KINDS_WITH_PLUS : KINDS;
}

/** Selects the markers whose next byte ends in the last digit. */
export const MARKERS_BEFORE_LAST = 0x70;

/** Whether two bytes may begin an escape, or the second is a plus that may encode a space. */
export function isEscapePair(bytes: number, hasPlus: boolean): boolean {
  const marker = (bytes >>> 8) & 255;
  const last = bytes & 255;
  return (hasPlus && last === PLUS) || (IS_MARKER[marker] === 1 && mayEscape(marker, last));
}

/** Selects the bits of `kindsOfBytes` for bytes that end after two bits of a digit. */
export const BASE64_OF_FIRST = 0x444444;

/** Whether six consecutive bytes are base64 digits. In every fourth digit no byte ends. */
export function isSix(base64: number): boolean {
  const three = base64 & (base64 >>> 4) & (base64 >>> 8);
  return (three & (three >>> 12) & 7) !== 0;
}
