import { MAX_ESCAPE_BYTES } from './window.ts';

/** A power of two, and more than an escape is long: so each position has its own index. */
const POSITIONS = 128;
/** Of a reading of which nothing is masked. */
export const NOT_MASKED = -0x40000000;
/** At one position. Where more differ, those that know least of a secret go. */
const MAX_READINGS = 16;

/**
 * How the text so far may be read: at each position from the next on, the readings that go on
 * there. The escape that one of them is in ends there; for most, there is none, and the position is
 * the next.
 */
export class Decodings {
  /** Over all positions. */
  count = 0;
  /** Of the automaton. */
  readonly states = new Int32Array(POSITIONS * MAX_READINGS);
  readonly histories = new Int32Array(POSITIONS * MAX_READINGS);
  /** What of the reading is masked already, as decoded positions: the last piece in one. */
  readonly maskedFroms = new Int32Array(POSITIONS * MAX_READINGS);
  readonly maskedTos = new Int32Array(POSITIONS * MAX_READINGS);
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

  /** The index of the first reading at a position; the others follow it. */
  firstAt(position: number): number {
    return (position & (POSITIONS - 1)) * MAX_READINGS;
  }

  remove(position: number): void {
    this.count -= this.countAt(position);
    this.#counts[position & (POSITIONS - 1)] = 0;
  }

  /**
   * Puts a reading at a position, unless one of the same state is there.
   *
   * @param depths of the states
   * @returns its index; -1 if it was not added
   */
  put(position: number, state: number, depths: Int32Array): number {
    const slot = position & (POSITIONS - 1);
    const count = this.#counts[slot] ?? 0;
    const first = slot * MAX_READINGS;
    let least = first;
    for (let index = first; index < first + count; index += 1) {
      const other = this.states[index] ?? 0;
      if (other === state) return -1;
      if ((depths[other] ?? 0) < (depths[this.states[least] ?? 0] ?? 0)) least = index;
    }
    let index = first + count;
    // The root says nothing, so any other says as much and more.
    if (count > 0 && state === 0) return -1;
    if (count > 0 && this.states[least] === 0) index = least;
    else if (count === MAX_READINGS) {
      if ((depths[state] ?? 0) <= (depths[this.states[least] ?? 0] ?? 0)) return -1;
      index = least;
    } else {
      this.#counts[slot] = count + 1;
      this.count += 1;
    }
    this.states[index] = state;
    return index;
  }

  /** The beginning of the text was dropped: by a multiple of POSITIONS. */
  shift(bytes: number): void {
    for (let index = 0; index < this.maskedFroms.length; index += 1) {
      if (this.maskedTos[index] === NOT_MASKED) continue;
      this.maskedFroms[index] = (this.maskedFroms[index] ?? 0) - bytes;
      this.maskedTos[index] = (this.maskedTos[index] ?? 0) - bytes;
    }
  }

  /** Positions of all readings, from the given one on. */
  *entriesFrom(position: number): Generator<{ readonly position: number; readonly index: number }> {
    for (let at = position; at < position + POSITIONS; at += 1) {
      const first = this.firstAt(at);
      for (let index = first; index < first + this.countAt(at); index += 1) {
        yield { position: at, index };
      }
    }
  }
}

/** What a window's beginning may be dropped by. */
export const SHIFT_UNIT = POSITIONS;
