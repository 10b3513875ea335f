import { Escapes } from '../encodings/escapes.ts';
import { IS_MARKER, PLUS } from './bytes-of-text.ts';
import type { Task, Window } from './window.ts';

/** The prefilter knows so many bytes that patterns begin with. */
export const KNOWN_BYTES = 4;
const READING_WORK = 15;

/** Tells whether a secret may begin where a part of its first bytes is escaped. */
export class PartialMatches {
  readonly #window: Window;
  readonly #task: Task;
  /** Of each byte one, as those of an earlier one are still needed. */
  readonly #escapes: readonly Escapes[];

  constructor(window: Window, task: Task) {
    this.#window = window;
    this.#task = task;
    this.#escapes = Array.from({ length: KNOWN_BYTES }, () => new Escapes(window));
  }

  /**
   * Whether the first bytes of a secret may be such that the first escape among them begins at a
   * position with a marker or a plus.
   */
  mayHaveEscapeAt(at: number): boolean {
    const escapes = this.#escapes[0];
    if (escapes === undefined) return false;
    const count = escapes.readAt(at);
    if (count === 0) return false;
    this.#task.work += READING_WORK;
    const { bytes } = this.#window;
    const { prefilter } = this.#task.automaton;
    if (this.#goesOn(escapes, count, 0, 0)) return true;
    if (at < 1) return false;
    const one = bytes[at - 1] ?? 0;
    if (prefilter.ones[one] === 1 && this.#goesOn(escapes, count, one, 1)) return true;
    if (at < 2) return false;
    const two = ((bytes[at - 2] ?? 0) << 8) | one;
    if (prefilter.mayBeginTwo(two) && this.#goesOn(escapes, count, two, 2)) return true;
    if (at < 3) return false;
    const three = ((bytes[at - 3] ?? 0) << 16) | two;
    return prefilter.mayBeginThree(three) && this.#goesOn(escapes, count, three, 3);
  }

  /** Whether a secret may begin with those bytes and one of the readings. */
  #goesOn(escapes: Escapes, count: number, bytes: number, known: number): boolean {
    for (let reading = 0; reading < count; reading += 1) {
      const read = escapes.bytesOf(reading);
      const size = escapes.sizeOf(reading);
      if (this.#extends(bytes, known, read, size, escapes.ends[reading] ?? 0, 1)) return true;
    }
    return false;
  }

  #extends(
    before: number,
    knownBefore: number,
    read: number,
    size: number,
    end: number,
    level: number,
  ): boolean {
    const { prefilter } = this.#task.automaton;
    let bytes = before;
    let known = knownBefore;
    for (let at = 0; at < size; at += 1) {
      bytes = (bytes << 8) | ((read >>> (8 * at)) & 255);
      known += 1;
      if (known === KNOWN_BYTES) return prefilter.mayBeginFour(bytes);
      if (known === 1 && prefilter.ones[bytes & 255] !== 1) return false;
      if (known === 2 && !prefilter.mayBeginTwo(bytes)) return false;
      if (known === 3 && !prefilter.mayBeginThree(bytes)) return false;
    }
    if (end >= this.#window.length) return false;
    const next = this.#window.bytes[end] ?? 0;
    if (this.#extends(bytes, known, next, 1, end + 1, level)) return true;
    if (IS_MARKER[next] !== 1 && next !== PLUS) return false;
    const escapes = this.#escapes[level];
    if (escapes === undefined) return false;
    const count = escapes.readAt(end);
    this.#task.work += READING_WORK;
    for (let reading = 0; reading < count; reading += 1) {
      const inner = escapes.bytesOf(reading);
      const innerEnd = escapes.ends[reading] ?? 0;
      if (this.#extends(bytes, known, inner, escapes.sizeOf(reading), innerEnd, level + 1)) {
        return true;
      }
    }
    return false;
  }
}
