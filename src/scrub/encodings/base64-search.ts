import { hashOf } from '../automaton/prefilter.ts';
import { BASE64_VALUES, EQUALS, IS_MARKER, mayEscape } from '../search/bytes-of-text.ts';
import type { Scanner } from '../search/scanner-type.ts';
import type { Report, Task, Window } from '../search/window.ts';
import { AlternateDecoding } from './alternate-decoding.ts';
import { DigitProbe } from './digit-probe.ts';
import { DigitRun } from './digit-run.ts';
import {
  BASE64_OF_FIRST,
  HAS_PLUS,
  isEscapePair,
  isSix,
  kindsOfBytes,
  MARKERS_BEFORE_LAST,
} from './digit-tables.ts';
import type { Escapes } from './escapes.ts';

/** Base64 in lines (RFC 2045 6.8, RFC 7468 2) has longer ones; texts have shorter words. */
const MIN_LINE_DIGITS = 40;
const ESCAPE_WORK = 20;
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
  readonly #otherReading: AlternateDecoding;
  #at = 0;
  /** Of the run: its digits so far, and the last of them. */
  #digits = 0;
  #last = 0;
  /** The same without the last. */
  #before = 0;
  /** Of the bytes that ended in its last digits, which are digits of base64 or begin an escape. */
  #base64 = 0;
  #markers = 0;
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
    this.#probe = new DigitProbe(6, task, this, this.#run);
    const run = new DigitRun(6, makeScanner, (from, to) =>
      this.#otherReading.found(from, to, found),
    );
    this.#otherReading = new AlternateDecoding(window, task, this, run);
  }

  get isQuiet(): boolean {
    return !this.#run.isOn;
  }

  start(): void {
    this.#at = 0;
    this.#reset();
    this.#run.isOn = false;
  }

  /** Reads up to a position. */
  run(limit: number): void {
    const { bytes } = this.#window;
    const startedAt = this.#at;
    while (this.#at < limit) {
      if (this.#readDigits(bytes, limit)) this.#examine();
      else if (this.#at < limit) this.#readOther(bytes[this.#at] ?? 0);
    }
    this.#task.work += this.#at - startedAt;
  }

  /**
   * Goes on to where something may be found, or to what is not just a digit or the end of a run.
   * Returns whether the last digit may complete a match.
   */
  #readDigits(bytes: Uint8Array, limit: number): boolean {
    const { fours, shift, hasSpace } = this.#task.automaton.prefilter;
    const table = kindsOfBytes(hasSpace);
    // Of a run of which nothing was told yet, nothing has to be remembered.
    const isNew = this.#digits === 0;
    let at = this.#at;
    let from = at;
    let before = this.#before;
    let last = this.#last;
    let base64 = this.#base64;
    let markers = this.#markers;
    let maySee = false;
    while (at < limit) {
      const byte = bytes[at] ?? 0;
      const digit = BASE64_VALUES[byte] ?? NO_DIGIT;
      if (digit >= NO_DIGIT) {
        if (!isNew || IS_MARKER[byte] === 1) break;
        if (byte <= CARRIAGE_RETURN && at - from >= MIN_LINE_DIGITS) break;
        at += 1;
        from = at;
        last = 0;
        base64 = 0;
        markers = 0;
        continue;
      }
      at += 1;
      before = last;
      const to2 = hashOf((before << 2) | (digit >> 4)) >>> shift;
      const to4 = hashOf((before << 4) | (digit >> 2)) >>> shift;
      last = (before << 6) | digit;
      const to6 = hashOf(last) >>> shift;
      const kinds = table[last & 4095] ?? 0;
      base64 = (base64 << 3) | (kinds & 7);
      markers = (markers << 3) | ((kinds >> 3) & 7);
      const mayBegin =
        ((fours[to2 >>> 5] ?? 0) >>> to2) |
        ((fours[to4 >>> 5] ?? 0) >>> to4) |
        ((fours[to6 >>> 5] ?? 0) >>> to6);
      const mayEscapeNow = (markers & MARKERS_BEFORE_LAST) | (kinds & HAS_PLUS);
      if ((mayBegin & 1) === 0 && mayEscapeNow === 0 && !isSix(base64)) continue;
      maySee = true;
      break;
    }
    this.#at = at;
    this.#before = before;
    this.#last = last;
    this.#base64 = base64;
    this.#markers = markers;
    if (at > from) this.#take(bytes, from, at);
    return maySee;
  }

  /** Digits, one behind another. */
  #take(bytes: Uint8Array, from: number, to: number): void {
    if (this.#isBroken) {
      this.#isBroken = false;
      this.#lineFrom = this.#digits;
    }
    const run = this.#run;
    for (let at = from; at < to && run.isOn; at += 1) {
      run.push(BASE64_VALUES[bytes[at] ?? 0] ?? 0, at, at + 1);
    }
    this.#digits += to - from;
    this.#probe.remember(this.#digits, from, to);
  }

  /** Reads what is no digit by itself. */
  #readOther(byte: number): void {
    const at = this.#at;
    const isMarker = IS_MARKER[byte] === 1;
    const mayBreak = byte <= CARRIAGE_RETURN && this.#digits >= MIN_LINE_DIGITS;
    const digit = isMarker || mayBreak ? this.#readEscaped(at, byte) : NO_DIGIT;
    if (digit === NO_DIGIT) {
      if (this.#run.isOn) this.#run.finish(false);
      if (this.#digits > 0) this.#reset();
      this.#at = at + 1;
      return;
    }
    const { end } = this;
    if (isMarker) this.#otherReading.search(at + 1, end);
    this.#at = end;
    if (digit === LINE_BREAK) {
      this.#isBroken = true;
      return;
    }
    this.#takeEscaped(digit, at, end);
  }

  #takeEscaped(digit: number, at: number, end: number): void {
    if (this.#isBroken) {
      this.#isBroken = false;
      this.#lineFrom = this.#digits;
    }
    if (this.#run.isOn) this.#run.push(digit, at, end);
    this.#digits += 1;
    this.#probe.remember(this.#digits, at, at + 1);
    this.#before = this.#last;
    this.#last = (this.#before << 6) | digit;
    const kinds = kindsOfBytes(this.#task.automaton.prefilter.hasSpace)[this.#last & 4095] ?? 0;
    this.#base64 = (this.#base64 << 3) | (kinds & 7);
    this.#markers = (this.#markers << 3) | ((kinds >> 3) & 7);
    this.#examine();
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
    this.#probe.startRun();
    this.#digits = 0;
    this.#last = 0;
    this.#before = 0;
    this.#base64 = 0;
    this.#markers = 0;
    this.#lineFrom = 0;
    this.#isBroken = false;
  }

  /** Examines the bytes that end in the last digit, each of a phase of its own. */
  #examine(): void {
    const { prefilter } = this.#task.automaton;
    const digits = this.#digits;
    for (let byte = 0; byte < 3; byte += 1) {
      const phase = (digits + 2 - byte) & 3;
      const bytes =
        byte === 2
          ? this.#last
          : (this.#before << (2 + byte * 2)) | ((this.#last & 63) >> (4 - byte * 2));
      const isBase64 = isSix(this.#base64 & (BASE64_OF_FIRST >> byte));
      if (prefilter.mayBeginFour(bytes)) this.#probe.sawBytes(bytes, phase, digits, this.#at);
      if (isBase64) this.#probe.sawDigits(phase, digits, this.#at);
      if (isEscapePair(bytes, prefilter.hasSpace)) this.#probe.sawEscape(phase, digits, this.#at);
    }
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
    this.#task.work += ESCAPE_WORK;
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
