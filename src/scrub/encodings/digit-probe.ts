import { ROOT } from '../automaton/automaton.ts';
import { BASE64_VALUES, HEX_VALUES, MARKER_KINDS } from '../search/bytes-of-text.ts';
import { KNOWN_BYTES, PartialMatches } from '../search/partial-matches.ts';
import type { Task, Window } from '../search/window.ts';
import type { DigitRun } from './digit-run.ts';
import { isEscapePair } from './digit-tables.ts';

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
/** What is found last began no more digits before. */
const BEFORE_DIGITS = 16;
const PROBE_BYTES = 64;
/** The four bytes that a secret begins with may be in so many digits that are digits themselves. */
const DIGITS_MARGIN_BYTES = 12;
/** Enough for an escape, also one inside another, and what precedes it. */
const ESCAPE_BYTES = 36;
const PROBE_WORK = 40;

/**
 * Looks closer at digits that may hold a secret, and has those searched that still may. All digits
 * of a run must be passed to `remember` first.
 */
export class DigitProbe {
  /** Positions of the last digits, by their numbers in the run. */
  readonly #recent = new Int32Array(RECENT);
  readonly #bits: 4 | 6;
  readonly #task: Task;
  readonly #reader: DigitReader;
  readonly #run: DigitRun;
  /** By phase, the number of the digit before which was looked for digits of digits. */
  readonly #lookedTo = [0, 0, 0, 0];
  #hasLooked: boolean = false;
  readonly #probe: Window = { bytes: new Uint8Array(PROBE_BYTES), length: 0, isCut: false };
  readonly #beginnings: PartialMatches;

  constructor(bits: 4 | 6, task: Task, reader: DigitReader, run: DigitRun) {
    this.#bits = bits;
    this.#task = task;
    this.#reader = reader;
    this.#run = run;
    this.#beginnings = new PartialMatches(this.#probe, task);
  }

  /** Another run. */
  startRun(): void {
    if (!this.#hasLooked) return;
    this.#hasLooked = false;
    this.#lookedTo.fill(0);
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

  /**
   * The last digit ends four bytes that a secret may begin with.
   *
   * @param phase which digits bytes begin with
   * @param digits how many the run has
   * @param end where the last ends
   */
  sawBytes(bytes: number, phase: number, digits: number, end: number): void {
    const { automaton } = this.#task;
    let node = ROOT;
    for (let shift = (KNOWN_BYTES - 1) * 8; shift >= 0; shift -= 8) {
      node = automaton.childOf(node, (bytes >>> shift) & 255);
      if (node < 0) return;
    }
    this.#search(phase, digits, end);
  }

  /** The last digit ends two bytes that an escape may begin with. */
  sawEscape(phase: number, digits: number, end: number): void {
    this.#task.work += PROBE_WORK;
    this.#decode(phase, digits, ESCAPE_BYTES);
    if (this.#mayBeginEscaped()) this.#search(phase, digits, end);
  }

  /** The last digit ends six bytes that are digits of base64. */
  sawDigits(phase: number, digits: number, end: number): void {
    if (digits <= (this.#lookedTo[phase] ?? 0)) return;
    this.#task.work += PROBE_WORK;
    const first = this.#decode(phase, digits, PROBE_BYTES);
    const { length } = this.#probe;
    const isWhole = length < PROBE_BYTES;
    const looked = Math.floor(((length - DIGITS_MARGIN_BYTES) * 8) / this.#bits);
    const lookedTo = isWhole ? Number.MAX_SAFE_INTEGER : first + looked;
    this.#lookedTo[phase] = lookedTo;
    this.#hasLooked = true;
    if (this.#mayBeginInDigits()) this.#search(phase, digits, end, lookedTo);
  }

  /** Position of the first of the last digits that may still be searched. */
  undecided(digits: number): number {
    return this.#recent[Math.max(0, digits - BEFORE_DIGITS) & (RECENT - 1)] ?? 0;
  }

  shift(bytes: number): void {
    for (let digit = 0; digit < RECENT; digit += 1) {
      this.#recent[digit] = (this.#recent[digit] ?? 0) - bytes;
    }
  }

  /** Has the digits searched from a few before the last on, and at least to that number. */
  #search(phase: number, digits: number, end: number, neededTo = digits): void {
    const run = this.#run;
    if (!run.isOn) {
      const first = Math.max(0, digits - BEFORE_DIGITS);
      run.start(first);
      for (let at = this.#recent[first & (RECENT - 1)] ?? 0; at < end; at = this.#reader.end) {
        const digit = this.#reader.digitAt(at);
        if (digit < NO_DIGIT) run.push(digit, at, this.#reader.end);
      }
    }
    run.search(phase, neededTo);
  }

  /** Decodes digits from one of the last on. Returns its number. */
  #decode(phase: number, digits: number, maxBytes: number): number {
    const phases = this.#bits === 6 ? 4 : 2;
    const from = Math.max(0, digits - BEFORE_DIGITS);
    const first = from + ((phase + phases - (from % phases)) % phases);
    const { bytes } = this.#probe;
    const reader = this.#reader;
    let length = 0;
    let rest = 0;
    let restBits = 0;
    let at = this.#recent[first & (RECENT - 1)] ?? 0;
    while (length < maxBytes) {
      const digit = reader.digitAt(at);
      if (digit === NO_DIGIT) break;
      at = reader.end;
      if (digit > NO_DIGIT) continue;
      rest = (rest << this.#bits) | digit;
      restBits += this.#bits;
      if (restBits < 8) continue;
      restBits -= 8;
      bytes[length] = rest >>> restBits;
      length += 1;
    }
    this.#probe.length = length;
    return first;
  }

  #mayBeginEscaped(): boolean {
    const { bytes, length } = this.#probe;
    const to = Math.min(length, BEFORE_DIGITS);
    for (let at = 0; at < to; at += 1) {
      if ((MARKER_KINDS[bytes[at] ?? 0] ?? 0) === 0) continue;
      if (this.#beginnings.mayHaveEscapeAt(at)) return true;
    }
    return false;
  }

  /** Whether it is digits again that may hold a secret. */
  #mayBeginInDigits(): boolean {
    const { bytes, length } = this.#probe;
    let base64 = 0;
    let before = 0;
    let hex = 0;
    let hexBytes = 0;
    for (let at = 0; at < length; at += 1) {
      const digit = BASE64_VALUES[bytes[at] ?? 0] ?? NO_DIGIT;
      base64 = digit < NO_DIGIT ? base64 + 1 : 0;
      if (base64 > 2) {
        const isHit =
          this.#mayBegin((before << 2) | (digit >> 4), base64 > 5) ||
          this.#mayBegin((before << 4) | (digit >> 2), base64 > 5) ||
          this.#mayBegin((before << 6) | digit, base64 > 5);
        if (isHit) return true;
      }
      before = (before << 6) | digit;
      const value = HEX_VALUES[bytes[at] ?? 0] ?? 16;
      hex = value < 16 ? hex + 1 : 0;
      hexBytes = (hexBytes << 4) | (value & 15);
      if (hex > 3 && this.#mayBegin(hexBytes, hex > 7)) return true;
    }
    return false;
  }

  #mayBegin(bytes: number, areFour: boolean): boolean {
    const { prefilter } = this.#task.automaton;
    return (areFour && prefilter.mayBeginFour(bytes)) || isEscapePair(bytes, prefilter.hasSpace);
  }
}
