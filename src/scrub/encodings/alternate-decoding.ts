import { BASE64_VALUES } from '../search/character-tables.ts';
import {
  LOOK_AHEAD_BYTES,
  MAX_ESCAPE_BYTES,
  type OnMatch,
  type Task,
  type Window,
} from '../search/window.ts';
import type { DigitReader } from './digit-probe.ts';
import type { DigitRun } from './digit-run.ts';
import { isEscapePair, isSix, kindsOfBytes } from './digit-tables.ts';

/** The minimum for four bytes; no secret is shorter. */
const MIN_DIGITS = 6;
/** The digits of six bytes, which may be digits themselves. */
const SIX_BYTES_DIGITS = 8;
const NO_DIGIT = 64;
const WORK = 100;
const PHASES = [0, 1, 2, 3];

/**
 * The other decoding of an escaped base64 digit, in which its marker is an ordinary character that
 * precedes digits by chance: `%2Bc3F1ZWFr` is `+c3F1ZWFr`, or a percent sign and `2Bc3F1ZWFr`.
 * Searches digits that begin in the escape, up to LOOK_AHEAD_BYTES.
 */
export class AlternateDecoding {
  readonly #window: Window;
  readonly #task: Task;
  readonly #reader: DigitReader;
  readonly #run: DigitRun;
  #escapeEnd = 0;
  /** The end of the last reported match. */
  #reportedTo = -1;

  constructor(window: Window, task: Task, reader: DigitReader, run: DigitRun) {
    this.#window = window;
    this.#task = task;
    this.#reader = reader;
    this.#run = run;
  }

  /**
   * Reports only matches that begin in the escape, and longer matches with the same beginning. The
   * main decoding finds all others; it does not report the cut secrets that this decoding reports
   * at its limit.
   */
  found(from: number, to: number, report: OnMatch): void {
    if (from >= this.#escapeEnd && from > this.#reportedTo) return;
    this.#reportedTo = Math.max(this.#reportedTo, to);
    report(from, to);
  }

  /**
   * @param from the position behind the marker
   * @param escapeEnd the end of the escape
   */
  search(from: number, escapeEnd: number): void {
    let wasDigit = false;
    this.#escapeEnd = escapeEnd;
    this.#reportedTo = -1;
    for (let at = from; at < escapeEnd; at += 1) {
      const isDigit = (BASE64_VALUES[this.#window.bytes[at] ?? 0] ?? NO_DIGIT) < NO_DIGIT;
      if (isDigit && !wasDigit) this.#searchFrom(at, escapeEnd);
      wasDigit = isDigit;
    }
  }

  #searchFrom(from: number, escapeEnd: number): void {
    this.#task.work += WORK;
    const { length, isCut } = this.#window;
    const limit = Math.min(length, from + LOOK_AHEAD_BYTES - MAX_ESCAPE_BYTES * 2);
    if (!this.#mayBegin(from, escapeEnd, limit)) return;
    const run = this.#run;
    run.start(0);
    let at = from;
    for (; at < limit; at = this.#reader.end) {
      const digit = this.#reader.digitAt(at);
      if (digit === NO_DIGIT) break;
      if (digit > NO_DIGIT) continue;
      run.push(digit, at, this.#reader.end);
      if (at === from) for (const phase of PHASES) run.search(phase, limit);
    }
    run.finish(at >= limit && (limit < length || isCut));
  }

  /** Whether a secret may begin in the digits of the escape. */
  #mayBegin(from: number, escapeEnd: number, limit: number): boolean {
    const { prefilter } = this.#task.automaton;
    let last = 0;
    let digits = 0;
    let base64 = 0;
    let isEncoded = false;
    const table = kindsOfBytes(prefilter.hasSpace);
    // The digits of the escape and of the first six bytes that begin in them.
    let count = SIX_BYTES_DIGITS - 1;
    for (let at = from; at < limit && digits <= count; at = this.#reader.end) {
      const digit = this.#reader.digitAt(at);
      if (digit >= NO_DIGIT) break;
      if (at < escapeEnd) count += 1;
      digits += 1;
      const ends = [(last << 2) | (digit >> 4), (last << 4) | (digit >> 2), (last << 6) | digit];
      last = (last << 6) | digit;
      base64 = (base64 << 3) | ((table[last & 4095] ?? 0) & 7);
      if (isSix(base64)) isEncoded = true;
      for (const bytes of ends) {
        if (digits >= MIN_DIGITS && prefilter.mayBeginFour(bytes)) return true;
        if (isEscapePair(bytes, prefilter.hasSpace)) isEncoded = true;
      }
    }
    return isEncoded && digits >= MIN_DIGITS;
  }
}
