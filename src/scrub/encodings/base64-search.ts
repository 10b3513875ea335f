import { hashOf } from '../automaton/prefilter.ts';
import { BASE64_VALUES, EQUALS, IS_MARKER, mayEscape } from '../search/character-tables.ts';
import type { OnMatch, Scanner, Task, Window } from '../search/window.ts';
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

/** Lines of base64 (RFC 2045 6.8, RFC 7468 2) are longer, words of texts are shorter. */
const MIN_LINE_DIGITS = 40;
const ESCAPE_WORK = 20;
const NO_DIGIT = 64;
const LINE_BREAK = 65;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Finds secrets in base64 and base64url (RFC 4648 4 and 5), at any offset. Digits may be escaped or
 * in lines. Decodes digits only if the bytes that end in a digit may be the first of a secret.
 */
export class Base64Search {
  /** The end of the digit that `digitAt` returned last. */
  end = 0;
  readonly #window: Window;
  readonly #task: Task;
  readonly #escapes: Escapes;
  readonly #run: DigitRun;
  readonly #probe: DigitProbe;
  readonly #alternate: AlternateDecoding;
  #at = 0;
  /** The number of digits of the run so far, and the last ones as bits. */
  #digits = 0;
  #last = 0;
  /** `#last` before the last digit. */
  #before = 0;
  /**
   * Which of the bytes that ended in the last digits are base64 digits, and which begin an escape.
   */
  #base64 = 0;
  #markers = 0;
  /** The number of digits at the last line break. */
  #lineFrom = 0;
  #isBroken: boolean = false;

  constructor(
    window: Window,
    escapes: Escapes,
    task: Task,
    makeScanner: (report: OnMatch) => Scanner,
    report: OnMatch,
  ) {
    this.#window = window;
    this.#task = task;
    this.#escapes = escapes;
    const found: OnMatch = (from, to) => report(from, this.#withPadding(to));
    this.#run = new DigitRun(6, makeScanner, found);
    this.#probe = new DigitProbe(6, task, this, this.#run);
    const run = new DigitRun(6, makeScanner, (from, to) => this.#alternate.found(from, to, found));
    this.#alternate = new AlternateDecoding(window, task, this, run);
  }

  get isQuiet(): boolean {
    return !this.#run.isOn;
  }

  start(): void {
    this.#at = 0;
    this.#reset();
    this.#run.isOn = false;
  }

  /** Scans up to a position. */
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
   * Advances to a possible match, or to a byte that needs `#readOther`. Returns whether the last
   * digit may complete a match.
   */
  #readDigits(bytes: Uint8Array, limit: number): boolean {
    const { fours, shift, hasSpace } = this.#task.automaton.prefilter;
    const table = kindsOfBytes(hasSpace);
    // A run that began here has no state to reset.
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

  /** Adds consecutive digits. */
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

  /** Reads a byte that is not a digit: an escape, a line break or the end of the run. */
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
    if (isMarker) this.#alternate.search(at + 1, end);
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

  /** Called at the end of the text. */
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

  /** Examines the bytes that end in the last digit, each of its own phase. */
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
   * An escaped digit, or a line break in a run; else NO_DIGIT. Sets `end`.
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
    for (let alternative = 0; alternative < count; alternative += 1) {
      const code = codes[alternative] ?? 0;
      const end = ends[alternative] ?? 0;
      if (code > 127 || (digit !== NO_DIGIT && end <= this.end)) continue;
      const value = BASE64_VALUES[code] ?? NO_DIGIT;
      if (value < NO_DIGIT) digit = value;
      else if (mayBreak && (code === LINE_FEED || code === CARRIAGE_RETURN)) digit = LINE_BREAK;
      else continue;
      this.end = end;
    }
    return digit;
  }

  /** Extends a match by the padding behind it. */
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
    for (let alternative = 0; alternative < count; alternative += 1) {
      if (this.#escapes.codes[alternative] === EQUALS) return this.#escapes.ends[alternative] ?? -1;
    }
    return -1;
  }
}
