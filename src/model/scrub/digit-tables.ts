import {
  AMPERSAND,
  BACKSLASH,
  BASE64_VALUES,
  IS_MARKER,
  mayEscape,
  PERCENT,
  PLUS,
} from './bytes-of-text.ts';

const MARKERS = [BACKSLASH, PERCENT, AMPERSAND];

/**
 * By a digit of base64 and the one before it, what the three bytes that end in it are: whether
 * digits of base64 themselves, in the lowest three bits, and whether markers of escapes, in the next
 * three. A byte that begins with the first bit of the digit before ends after two bits of the digit
 * (bits 2 and 5); one that begins with its third bit after four (1 and 4); and one that begins with
 * its fifth bit after six (0 and 3).
 */
function kindsTable(markers: readonly number[]): Uint8Array {
  const kindOf = (byte: number): number =>
    (markers.includes(byte) ? 8 : 0) | ((BASE64_VALUES[byte] ?? 64) < 64 ? 1 : 0);
  return Uint8Array.from({ length: 4096 }, (_, bits) =>
    [bits >> 4, bits >> 2, bits].reduce((sum, byte) => sum * 2 + kindOf(byte & 255), 0),
  );
}
const KINDS = kindsTable(MARKERS);
const KINDS_WITH_PLUS = kindsTable([...MARKERS, PLUS]);

/** @param hasPlus whether a plus is a marker, too */
export function kindsOfBytes(hasPlus: boolean): Uint8Array {
  return hasPlus ? KINDS_WITH_PLUS : KINDS;
}

/** Of the markers that ended in the last three digits, those whose next byte ends in the last. */
export const MARKERS_BEFORE_LAST = 0x70;

/** Whether two bytes may begin an escape. */
export function isEscapePair(bytes: number, hasPlus: boolean): boolean {
  const marker = (bytes >>> 8) & 255;
  if (IS_MARKER[marker] !== 1) return hasPlus && marker === PLUS;
  return mayEscape(marker, bytes & 255);
}
