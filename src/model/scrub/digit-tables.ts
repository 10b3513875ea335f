import {
  AMPERSAND,
  BACKSLASH,
  BASE64_VALUES,
  IS_MARKER,
  mayEscape,
  PERCENT,
  PLUS,
} from './bytes-of-text.ts';

/** One bit for each two bytes that an escape may begin with. */
const ESCAPE_PAIRS = pairsOf([BACKSLASH, PERCENT, AMPERSAND]);
const ESCAPE_PAIRS_WITH_PLUS = pairsOf([BACKSLASH, PERCENT, AMPERSAND, PLUS]);

function pairsOf(markers: readonly number[]): Int32Array {
  const pairs = new Int32Array(65_536 / 32);
  for (const marker of markers) {
    for (let byte = 0; byte < 256; byte += 1) {
      if (IS_MARKER[marker] === 1 && !mayEscape(marker, byte)) continue;
      const pair = (marker << 8) | byte;
      pairs[pair >>> 5] = (pairs[pair >>> 5] ?? 0) | (1 << pair);
    }
  }
  return pairs;
}

/** @param hasPlus whether a plus is an escape, too */
export function escapePairs(hasPlus: boolean): Int32Array {
  return hasPlus ? ESCAPE_PAIRS_WITH_PLUS : ESCAPE_PAIRS;
}

/**
 * By a digit of base64 and the one before it, which of the three bytes that end in it are digits of
 * base64 themselves. A byte that begins with the first bit of the one before ends after two bits
 * of the digit (bit 2); one that begins with its third bit after four (bit 1); and one that begins
 * with its fifth bit after six (bit 0).
 */
export const BASE64_IN_BASE64: Uint8Array = Uint8Array.from({ length: 4096 }, (_, bits) =>
  [bits >> 4, bits >> 2, bits].reduce(
    (sum, byte) => sum * 2 + ((BASE64_VALUES[byte & 255] ?? 64) < 64 ? 1 : 0),
    0,
  ),
);

/**
 * Of the bits of the last eight digits, those of six bytes on end, by the last byte's. There are no
 * bytes that begin with the fourth digit of a group.
 */
export const SIX_TO_2_BITS = 0x444444;
export const SIX_TO_4_BITS = 0x222222;
export const SIX_TO_6_BITS = 0x111111;
