import { BASE64_VALUES, EQUALS, IS_MARKER, mayEscape } from './bytes-of-text.ts';
import { DigitProbe } from './digit-probe.ts';
import { DigitRun } from './digit-run.ts';
import {
  BASE64_IN_BASE64,
  escapePairs,
  SIX_TO_2_BITS,
  SIX_TO_4_BITS,
  SIX_TO_6_BITS,
} from './digit-tables.ts';
import type { Escapes } from './escapes.ts';
import { OtherReading } from './other-reading.ts';
import { hashOf } from './prefilter.ts';
import type { Scanner } from './scanner-type.ts';
import type { Report, Task, Window } from './window.ts';

/** Base64 in lines (RFC 2045 6.8, RFC 7468 2) has longer ones; texts have shorter words. */
const MIN_LINE_DIGITS = 40;
const NO_DIGIT = 64;
const LINE_BREAK = 65;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Finds secrets in base64 and base64url, at whatever of its digits they begin (RFC 4648 4 and 5).
 * Digits may be escaped, and in lines. Of each digit it is seen whether the bytes that end in it
 * may be the first of a secret; only then they are decoded.
 */
export class Base64Search {
  /** Where what was read ends, of `digitAt`. */
  end = 0;
  readonly #window: Window;
  readonly #task: Task;
  readonly #escapes: Escapes;
  readonly #run: DigitRun;
  readonly #probe: DigitProbe;
  readonly #otherReading: OtherReading;
  #at = 0;
  /** Of the run: its digits so far, and the last five of them. */
  #digits = 0;
  #last = 0;
  /** Of its last digits, which of their bytes are digits of base64 again. */
  #kinds = 0;
  /** How many digits it had at the last line break. */
  #lineFrom = 0;
  #isBroken: boolean = false;

  constructor(
    window: Window,
    escapes: Escapes,
    task: Task,
    makeScanner: (report: Report) => Scanner,
    report: Report,
  ) {
    this.#window = window;
    this.#task = task;
    this.#escapes = escapes;
    const found: Report = (from, to) => report(from, this.#withPadding(to));
    this.#run = new DigitRun(6, makeScanner, found);
    this.#probe = new DigitProbe(6, window, task, this, this.#run);
    this.#otherReading = new OtherReading(window, task, this, new DigitRun(6, makeScanner, found));
  }

  get isQuiet(): boolean {
    return !this.#run.isOn;
  }

  start(): void {
    this.#at = 0;
    this.#reset();
    this.#run.isOn = false;
  }

  /** Looks at what is before a position. */
  run(limit: number): void {
    const { bytes } = this.#window;
    const { fours, shift, hasSpace } = this.#task.automaton.prefilter;
    const pairs = escapePairs(hasSpace);
    const { recent } = this.#probe;
    const run = this.#run;
    let at = this.#at;
    let digits = this.#digits;
    let last = this.#last;
    let kinds = this.#kinds;
    while (at < limit) {
      const byte = bytes[at] ?? 0;
      let digit = BASE64_VALUES[byte] ?? NO_DIGIT;
      let end = at + 1;
      if (digit >= NO_DIGIT) {
        if (IS_MARKER[byte] === 1 || (byte <= CARRIAGE_RETURN && digits >= MIN_LINE_DIGITS)) {
          this.#digits = digits;
          digit = this.#readEscaped(at, byte);
          end = this.end;
          if (digit !== NO_DIGIT && IS_MARKER[byte] === 1) this.#otherReading.search(at + 1, end);
        }
        if (digit >= NO_DIGIT) {
          at = end;
          if (digit === LINE_BREAK) {
            this.#isBroken = true;
            continue;
          }
          if (run.isOn) run.finish(false);
          if (digits >= MIN_LINE_DIGITS) this.#reset();
          digits = 0;
          last = 0;
          kinds = 0;
          continue;
        }
      }
      if (this.#isBroken) {
        this.#isBroken = false;
        this.#lineFrom = digits;
      }
      if (run.isOn) run.push(digit, at, end);
      recent[digits & 31] = at;
      at = end;
      digits += 1;
      const after2 = (last << 2) | (digit >> 4);
      const after4 = (last << 4) | (digit >> 2);
      const after6 = (last << 6) | digit;
      kinds = (kinds << 3) | (BASE64_IN_BASE64[after6 & 4095] ?? 0);
      last = after6 & 0x3fffffff;
      const bit2 = hashOf(after2) >>> shift;
      const bit4 = hashOf(after4) >>> shift;
      const bit6 = hashOf(after6) >>> shift;
      const pair2 = after2 & 65_535;
      const pair4 = after4 & 65_535;
      const pair6 = after6 & 65_535;
      const seen =
        ((fours[bit2 >>> 5] ?? 0) >>> bit2) |
        ((fours[bit4 >>> 5] ?? 0) >>> bit4) |
        ((fours[bit6 >>> 5] ?? 0) >>> bit6) |
        ((pairs[pair2 >>> 5] ?? 0) >>> pair2) |
        ((pairs[pair4 >>> 5] ?? 0) >>> pair4) |
        ((pairs[pair6 >>> 5] ?? 0) >>> pair6);
      const isBase64 =
        (kinds & SIX_TO_2_BITS) === SIX_TO_2_BITS ||
        (kinds & SIX_TO_4_BITS) === SIX_TO_4_BITS ||
        (kinds & SIX_TO_6_BITS) === SIX_TO_6_BITS;
      if ((seen & 1) === 0 && !isBase64) continue;
      this.#digits = digits;
      this.#look(after2, (digits + 2) & 3, end, (kinds & SIX_TO_2_BITS) === SIX_TO_2_BITS);
      this.#look(after4, (digits + 1) & 3, end, (kinds & SIX_TO_4_BITS) === SIX_TO_4_BITS);
      this.#look(after6, digits & 3, end, (kinds & SIX_TO_6_BITS) === SIX_TO_6_BITS);
    }
    this.#at = at;
    this.#digits = digits;
    this.#last = last;
    this.#kinds = kinds;
  }

  /** The text is at its end. */
  finish(): void {
    if (this.#run.isOn) this.#run.finish(this.#window.isCut);
    this.#reset();
  }

  undecided(): number {
    if (this.#digits === 0) return this.#at;
    return this.#run.isOn ? this.#run.undecided() : this.#probe.undecided(this.#digits);
  }

  shift(bytes: number): void {
    this.#at -= bytes;
    this.#probe.shift(bytes);
    if (this.#run.isOn) this.#run.shift(bytes);
  }

  /** The digit at a position, or LINE_BREAK or NO_DIGIT. */
  digitAt(at: number): number {
    this.end = at + 1;
    if (at >= this.#window.length) return NO_DIGIT;
    const byte = this.#window.bytes[at] ?? 0;
    const digit = BASE64_VALUES[byte] ?? NO_DIGIT;
    return digit < NO_DIGIT ? digit : this.#readEscaped(at, byte);
  }

  #reset(): void {
    this.#digits = 0;
    this.#last = 0;
    this.#kinds = 0;
    this.#lineFrom = 0;
    this.#isBroken = false;
  }

  /** Looks closer at the four bytes that end in the last digit. */
  #look(bytes: number, phase: number, end: number, isBase64: boolean): void {
    const { prefilter } = this.#task.automaton;
    const probe = this.#probe;
    const digits = this.#digits;
    if (isBase64) probe.search(phase, digits, end);
    else if (prefilter.mayBeginFour(bytes)) probe.sawBytes(bytes, phase, digits, end);
    const pair = bytes & 65_535;
    const pairs = escapePairs(prefilter.hasSpace);
    if ((((pairs[pair >>> 5] ?? 0) >>> pair) & 1) === 1) probe.sawEscape(phase, digits, end);
  }

  /**
   * A digit, or a line break inside of a run, that is not just a byte; NO_DIGIT where there is none.
   * `end` is behind it.
   */
  #readEscaped(at: number, byte: number): number {
    this.end = at + 1;
    const mayBreak = this.#isBroken || this.#digits - this.#lineFrom >= MIN_LINE_DIGITS;
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return mayBreak ? LINE_BREAK : NO_DIGIT;
    if (IS_MARKER[byte] !== 1) return NO_DIGIT;
    if (!mayEscape(byte, this.#window.bytes[at + 1] ?? 0)) return NO_DIGIT;
    const { codes, ends } = this.#escapes;
    const count = this.#escapes.readAt(at);
    let digit = NO_DIGIT;
    for (let reading = 0; reading < count; reading += 1) {
      const code = codes[reading] ?? 0;
      const end = ends[reading] ?? 0;
      if (code > 127 || (digit !== NO_DIGIT && end <= this.end)) continue;
      const value = BASE64_VALUES[code] ?? NO_DIGIT;
      if (value < NO_DIGIT) digit = value;
      else if (mayBreak && (code === LINE_FEED || code === CARRIAGE_RETURN)) digit = LINE_BREAK;
      else continue;
      this.end = end;
    }
    return digit;
  }

  /** Padding belongs to the digits before it. */
  #withPadding(to: number): number {
    const { bytes, length } = this.#window;
    let end = to;
    for (let count = 0; count < 2 && end < length; count += 1) {
      const padded = bytes[end] === EQUALS ? end + 1 : this.#endOfEscapedPadding(end);
      if (padded < 0) break;
      end = padded;
    }
    return end;
  }

  #endOfEscapedPadding(at: number): number {
    const count = this.#escapes.readAt(at);
    for (let reading = 0; reading < count; reading += 1) {
      if (this.#escapes.codes[reading] === EQUALS) return this.#escapes.ends[reading] ?? -1;
    }
    return -1;
  }
}
