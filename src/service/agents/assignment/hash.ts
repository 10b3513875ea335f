/**
 * Hashes that every replica computes alike, on any machine and Node version: whole-number
 * arithmetic alone. They spread, and protect against nobody.
 */

/** 64 bits of a text. */
export interface TextHash {
  readonly high: number;
  readonly low: number;
}

const HIGH_START = 0x9e3779b9;
const LOW_START = 0x243f6a88;
const HIGH_STEP = 0xcc9e2d51;
const LOW_STEP = 0x1b873593;
const TWO_TO_53 = 2 ** 53;

export function hashOf(text: string): TextHash {
  let high = HIGH_START ^ text.length;
  let low = LOW_START;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, HIGH_STEP);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, LOW_STEP);
    low ^= low >>> 13;
  }
  return { high: finish(high), low: finish(low ^ high) };
}

/** A number in (0, 1) with 53 bits, for a pair; another order gives another number. */
export function drawOf(first: TextHash, second: TextHash): number {
  const high = finish(first.high ^ Math.imul(second.high, HIGH_STEP));
  const low = finish(first.low + Math.imul(second.low ^ high, LOW_STEP));
  return ((high >>> 5) * 2 ** 26 + (low >>> 6) + 0.5) / TWO_TO_53;
}

/** Every bit of the input comes to bear on every bit of the output, and none is lost. */
function finish(value: number): number {
  let mixed = value;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
