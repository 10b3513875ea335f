import { Escapes } from '../encodings/escapes.ts';
import { IS_MARKER, PLUS } from './character-tables.ts';
import type { Task, Window } from './window.ts';

/** The number of first bytes of each pattern in the prefilter. */
export const KNOWN_BYTES = 4;
const ALTERNATIVE_WORK = 15;

/** The prefilter for secrets with an escape among their first bytes. */
export class EscapedPrefilter {
  readonly #window: Window;
  readonly #task: Task;
  /** One per byte: those of an earlier byte are still in use. */
  readonly #escapes: readonly Escapes[];

  constructor(window: Window, task: Task) {
    this.#window = window;
    this.#task = task;
    this.#escapes = Array.from({ length: KNOWN_BYTES }, () => new Escapes(window));
  }

  /**
   * Whether a position with a marker or a plus may be the first escape among the first bytes of a
   * secret.
   */
  mayHaveEscapeAt(at: number): boolean {
    const escapes = this.#escapes[0];
    if (escapes === undefined) return false;
    const count = escapes.readAt(at);
    if (count === 0) return false;
    this.#task.work += ALTERNATIVE_WORK;
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

  /** Whether a secret may begin with these bytes and one of the alternatives. */
  #goesOn(escapes: Escapes, count: number, bytes: number, known: number): boolean {
    for (let alternative = 0; alternative < count; alternative += 1) {
      const read = escapes.bytesOf(alternative);
      const size = escapes.sizeOf(alternative);
      if (this.#extends(bytes, known, read, size, escapes.ends[alternative] ?? 0, 1)) return true;
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
    this.#task.work += ALTERNATIVE_WORK;
    for (let alternative = 0; alternative < count; alternative += 1) {
      const inner = escapes.bytesOf(alternative);
      const innerEnd = escapes.ends[alternative] ?? 0;
      if (this.#extends(bytes, known, inner, escapes.sizeOf(alternative), innerEnd, level + 1)) {
        return true;
      }
    }
    return false;
  }
}
