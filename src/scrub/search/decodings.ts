import { MAX_ESCAPE_BYTES } from './window.ts';

/** A power of two, larger than an escape: each position that is in use has its own index. */
const POSITIONS = 128;
/** For a decoding without a mask. */
export const NOT_MASKED = -0x40000000;
/** The limit per position. Beyond it, decodings with the shortest partial match are dropped. */
const MAX_DECODINGS = 16;

/**
 * The possible decodings of the text so far, by the position where each continues: the end of an
 * escape, or the next byte.
 */
export class Decodings {
  /** The number of decodings at all positions. */
  count = 0;
  /** States of the automaton. */
  readonly states = new Int32Array(POSITIONS * MAX_DECODINGS);
  readonly histories = new Int32Array(POSITIONS * MAX_DECODINGS);
  /** The last span of each decoding that is already masked, as decoded positions. */
  readonly maskedFroms = new Int32Array(POSITIONS * MAX_DECODINGS);
  readonly maskedTos = new Int32Array(POSITIONS * MAX_DECODINGS);
  readonly #counts = new Uint8Array(POSITIONS);

  static {
    if (POSITIONS <= MAX_ESCAPE_BYTES) throw new RangeError('an escape must fit in the positions');
  }

  clear(): void {
    if (this.count > 0) this.#counts.fill(0);
    this.count = 0;
  }

  countAt(position: number): number {
    return this.#counts[position & (POSITIONS - 1)] ?? 0;
  }

  /** The index of the first decoding at a position; the others follow. */
  firstAt(position: number): number {
    return (position & (POSITIONS - 1)) * MAX_DECODINGS;
  }

  remove(position: number): void {
    this.count -= this.countAt(position);
    this.#counts[position & (POSITIONS - 1)] = 0;
  }

  /**
   * Adds a decoding at a position, unless one with the same state is there.
   *
   * @param depths by state
   * @returns its index; -1 if it was not added
   */
  put(position: number, state: number, depths: Int32Array): number {
    const entry = position & (POSITIONS - 1);
    const count = this.#counts[entry] ?? 0;
    const first = entry * MAX_DECODINGS;
    let least = first;
    for (let index = first; index < first + count; index += 1) {
      const other = this.states[index] ?? 0;
      if (other === state) return -1;
      if ((depths[other] ?? 0) < (depths[this.states[least] ?? 0] ?? 0)) least = index;
    }
    let index = first + count;
    // The root is no partial match, so any other state replaces it.
    if (count > 0 && state === 0) return -1;
    if (count > 0 && this.states[least] === 0) index = least;
    else if (count === MAX_DECODINGS) {
      if ((depths[state] ?? 0) <= (depths[this.states[least] ?? 0] ?? 0)) return -1;
      index = least;
    } else {
      this.#counts[entry] = count + 1;
      this.count += 1;
    }
    this.states[index] = state;
    return index;
  }

  /** Called when the beginning of the text was dropped, a multiple of POSITIONS. */
  shift(bytes: number): void {
    for (let index = 0; index < this.maskedFroms.length; index += 1) {
      if (this.maskedTos[index] === NOT_MASKED) continue;
      this.maskedFroms[index] = (this.maskedFroms[index] ?? 0) - bytes;
      this.maskedTos[index] = (this.maskedTos[index] ?? 0) - bytes;
    }
  }

  /** All decodings from a position on. */
  *entriesFrom(position: number): Generator<{ readonly position: number; readonly index: number }> {
    for (let at = position; at < position + POSITIONS; at += 1) {
      const first = this.firstAt(at);
      for (let index = first; index < first + this.countAt(at); index += 1) {
        yield { position: at, index };
      }
    }
  }
}

/** Bytes are dropped from a window in multiples of this. */
export const SHIFT_UNIT = POSITIONS;
