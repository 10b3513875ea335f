const HASH = 0x9e3779b1;
/** One of this many bits is set, so this is also the rate of false positives. */
const SPARSENESS = 256;
const MIN_BITS = 12;
const MAX_BITS = 22;

/**
 * Excludes positions where no pattern begins, by the first four bytes of all patterns. No pattern
 * is shorter.
 */
export class Prefilter {
  /** One bit per hash of the first four, three and two bytes. */
  readonly fours: Int32Array;
  readonly threes: Int32Array;
  readonly twos: Int32Array;
  readonly ones = new Uint8Array(256);
  /** A hash shifted by this (`>>>`) is the number of its bit. */
  readonly shift: number;
  /** Whether a pattern contains a space, which may be encoded as `+`. */
  hasSpace: boolean = false;

  constructor(patterns: number) {
    const wanted = Math.ceil(Math.log2(Math.max(1, patterns) * SPARSENESS));
    const bits = Math.min(MAX_BITS, Math.max(MIN_BITS, wanted));
    this.shift = 32 - bits;
    this.fours = new Int32Array(2 ** (bits - 5));
    this.threes = new Int32Array(2 ** (bits - 5));
    this.twos = new Int32Array(2 ** (bits - 5));
  }

  add(pattern: Uint8Array): void {
    const [one = 0, two = 0, three = 0, four = 0] = pattern;
    this.ones[one] = 1;
    set(this.twos, hashOf((one << 8) | two) >>> this.shift);
    set(this.threes, hashOf((one << 16) | (two << 8) | three) >>> this.shift);
    set(this.fours, hashOf((one << 24) | (two << 16) | (three << 8) | four) >>> this.shift);
    if (!this.hasSpace) this.hasSpace = pattern.includes(0x20);
  }

  /** @param bytes big-endian, as in the other methods */
  mayBeginTwo(bytes: number): boolean {
    return has(this.twos, hashOf(bytes) >>> this.shift);
  }

  mayBeginThree(bytes: number): boolean {
    return has(this.threes, hashOf(bytes) >>> this.shift);
  }

  mayBeginFour(bytes: number): boolean {
    return has(this.fours, hashOf(bytes) >>> this.shift);
  }
}

export function hashOf(bytes: number): number {
  return Math.imul(bytes, HASH);
}

function has(bits: Int32Array, at: number): boolean {
  return (((bits[at >>> 5] ?? 0) >>> at) & 1) === 1;
}

function set(bits: Int32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << at);
}
