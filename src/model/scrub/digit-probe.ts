import { ROOT } from './automaton.ts';
import { Beginnings, KNOWN_BYTES } from './beginnings.ts';
import { IS_MARKER, PLUS } from './bytes-of-text.ts';
import type { DigitRun } from './digit-run.ts';
import type { Task, Window } from './window.ts';

/** What reads digits one by one. */
export interface DigitReader {
  /** What was read ends here. */
  readonly end: number;
  /** The digit at a position; 64 where there is none, 65 where a line breaks. */
  digitAt(at: number): number;
}

const NO_DIGIT = 64;
/** A power of two, for the positions of the last digits. */
const RECENT = 32;
const BEFORE_DIGITS = 16;
/** Enough for an escape, also one inside another, and what stands before it. */
const PROBE_BYTES = 48;

/**
 * Looks closer at digits that may hold a secret, and has those searched that still may. All digits
 * of a run must be told before (`remember`).
 */
export class DigitProbe {
  /** Where the last digits stand, by their numbers in the run. */
  readonly #recent = new Int32Array(RECENT);
  readonly #bits: 4 | 6;
  readonly #window: Window;
  readonly #task: Task;
  readonly #reader: DigitReader;
  readonly #run: DigitRun;
  readonly #probe: Window = { bytes: new Uint8Array(PROBE_BYTES), length: 0, isCut: false };
  readonly #beginnings: Beginnings;

  constructor(bits: 4 | 6, window: Window, task: Task, reader: DigitReader, run: DigitRun) {
    this.#bits = bits;
    this.#window = window;
    this.#task = task;
    this.#reader = reader;
    this.#run = run;
    this.#beginnings = new Beginnings(this.#probe, task);
  }

  /**
   * Digits stand from one position to another, one behind another.
   *
   * @param digits how many the run has with them
   */
  remember(digits: number, from: number, to: number): void {
    const recent = this.#recent;
    for (let at = Math.max(from, to - RECENT); at < to; at += 1) {
      recent[(digits - to + at) & (RECENT - 1)] = at;
    }
  }

  /** The last digit ends four bytes that a secret may begin with. */
  sawBytes(bytes: number, phase: number, digits: number, end: number): void {
    const { automaton } = this.#task;
    let node = ROOT;
    for (let shift = (KNOWN_BYTES - 1) * 8; shift >= 0; shift -= 8) {
      node = automaton.childOf(node, (bytes >>> shift) & 255);
      if (node < 0) return;
    }
    this.search(phase, digits, end);
  }

  /** The last digit ends two bytes that an escape may begin with. */
  sawEscape(phase: number, digits: number, end: number): void {
    if (this.#mayMatter(phase, digits)) this.search(phase, digits, end);
  }

  /**
   * Has the digits searched from a few before the last on.
   *
   * @param digits how many the run has
   * @param end where the last ends
   */
  search(phase: number, digits: number, end: number): void {
    const run = this.#run;
    if (!run.isOn) {
      const first = Math.max(0, digits - BEFORE_DIGITS);
      run.start(first);
      for (let at = this.#recent[first & (RECENT - 1)] ?? 0; at < end; at = this.#reader.end) {
        const digit = this.#reader.digitAt(at);
        if (digit < NO_DIGIT) run.push(digit, at, this.#reader.end);
      }
    }
    run.search(phase);
  }

  /** Where the first of the last digits stands that may still be searched. */
  undecided(digits: number): number {
    return this.#recent[Math.max(0, digits - BEFORE_DIGITS) & (RECENT - 1)] ?? 0;
  }

  shift(bytes: number): void {
    for (let digit = 0; digit < RECENT; digit += 1) {
      this.#recent[digit] = (this.#recent[digit] ?? 0) - bytes;
    }
  }

  /** Whether an escape near the last digit may be one of the first bytes of a secret. */
  #mayMatter(phase: number, digits: number): boolean {
    const phases = this.#bits === 6 ? 4 : 2;
    const from = Math.max(0, digits - BEFORE_DIGITS / 2);
    const first = from + ((phase + phases - (from % phases)) % phases);
    if (first >= digits) return true;
    const { bytes } = this.#probe;
    let length = 0;
    let rest = 0;
    let restBits = 0;
    let at = this.#recent[first & (RECENT - 1)] ?? 0;
    while (length < PROBE_BYTES && at < this.#window.length) {
      const digit = this.#reader.digitAt(at);
      if (digit === NO_DIGIT) break;
      at = this.#reader.end;
      if (digit > NO_DIGIT) continue;
      rest = (rest << this.#bits) | digit;
      restBits += this.#bits;
      if (restBits < 8) continue;
      restBits -= 8;
      bytes[length] = rest >>> restBits;
      length += 1;
    }
    this.#probe.length = length;
    const looked = Math.min(length, BEFORE_DIGITS / 2);
    for (let byte = 0; byte < looked; byte += 1) {
      const value = bytes[byte] ?? 0;
      if (IS_MARKER[value] !== 1 && value !== PLUS) continue;
      if (this.#beginnings.mayHaveEscapeAt(byte)) return true;
    }
    return false;
  }
}
