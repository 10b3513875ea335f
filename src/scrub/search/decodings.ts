import { MAX_ESCAPE_BYTES } from './window.ts';

/** A power of two, and more than an escape is long: so a position has a place of its own. */
const PLACES = 128;
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
  readonly states = new Int32Array(PLACES * MAX_READINGS);
  readonly histories = new Int32Array(PLACES * MAX_READINGS);
  /** What of the reading is masked already, as decoded positions: the last piece in one. */
  readonly maskedFroms = new Int32Array(PLACES * MAX_READINGS);
  readonly maskedTos = new Int32Array(PLACES * MAX_READINGS);
  readonly #counts = new Uint8Array(PLACES);

  static {
    if (PLACES <= MAX_ESCAPE_BYTES) throw new RangeError('an escape must fit in the places');
  }

  clear(): void {
    if (this.count > 0) this.#counts.fill(0);
    this.count = 0;
  }

  countAt(position: number): number {
    return this.#counts[position & (PLACES - 1)] ?? 0;
  }

  /** The place of the first reading at a position; the others follow on it. */
  firstAt(position: number): number {
    return (position & (PLACES - 1)) * MAX_READINGS;
  }

  remove(position: number): void {
    this.count -= this.countAt(position);
    this.#counts[position & (PLACES - 1)] = 0;
  }

  /**
   * Puts a reading at a position, unless one of the same state is there.
   *
   * @param depths of the states
   * @returns its place; -1 where it was not put
   */
  put(position: number, state: number, depths: Int32Array): number {
    const slot = position & (PLACES - 1);
    const count = this.#counts[slot] ?? 0;
    const first = slot * MAX_READINGS;
    let least = first;
    for (let place = first; place < first + count; place += 1) {
      const other = this.states[place] ?? 0;
      if (other === state) return -1;
      if ((depths[other] ?? 0) < (depths[this.states[least] ?? 0] ?? 0)) least = place;
    }
    let place = first + count;
    // The root says nothing, so any other says as much and more.
    if (count > 0 && state === 0) return -1;
    if (count > 0 && this.states[least] === 0) place = least;
    else if (count === MAX_READINGS) {
      if ((depths[state] ?? 0) <= (depths[this.states[least] ?? 0] ?? 0)) return -1;
      place = least;
    } else {
      this.#counts[slot] = count + 1;
      this.count += 1;
    }
    this.states[place] = state;
    return place;
  }

  /** The beginning of the text was dropped: by a multiple of PLACES. */
  shift(bytes: number): void {
    for (let place = 0; place < this.maskedFroms.length; place += 1) {
      if (this.maskedTos[place] === NOT_MASKED) continue;
      this.maskedFroms[place] = (this.maskedFroms[place] ?? 0) - bytes;
      this.maskedTos[place] = (this.maskedTos[place] ?? 0) - bytes;
    }
  }

  /** Positions of all readings, from the given one on. */
  *places(position: number): Generator<{ readonly position: number; readonly place: number }> {
    for (let at = position; at < position + PLACES; at += 1) {
      const first = this.firstAt(at);
      for (let place = first; place < first + this.countAt(at); place += 1) {
        yield { position: at, place };
      }
    }
  }
}

/** What a window's beginning may be dropped by. */
export const SHIFT_UNIT = PLACES;
