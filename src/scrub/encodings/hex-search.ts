import { hashOf } from '../automaton/prefilter.ts';
import { BASE64_VALUES, HEX_VALUES, MARKER_KINDS, PLUS } from '../search/character-tables.ts';
import type { OnMatch, Scanner, Task, Window } from '../search/window.ts';
import { DigitProbe } from './digit-probe.ts';
import { DigitRun } from './digit-run.ts';
import { isEscapePair } from './digit-tables.ts';

/** The digits of four bytes; no secret is shorter. */
const MIN_DIGITS = 8;
const NO_DIGIT = 64;
/** The last digits of six bytes that are each a digit of base64. */
const SIX_DIGITS = 0x555;

/** Finds secrets in hexadecimal digits, upper or lower case. */
export class HexSearch {
  /** The end of the digit that `digitAt` returned last. */
  end = 0;
  readonly #window: Window;
  readonly #task: Task;
  readonly #run: DigitRun;
  readonly #probe: DigitProbe;
  #at = 0;
  /** The number of digits of the run so far, and the last eight of them. */
  #digits = 0;
  #last = 0;
  /** One bit per byte: whether it is a base64 digit. */
  #base64 = 0;

  constructor(
    window: Window,
    task: Task,
    makeScanner: (report: OnMatch) => Scanner,
    report: OnMatch,
  ) {
    this.#window = window;
    this.#task = task;
    this.#run = new DigitRun(4, makeScanner, report);
    this.#probe = new DigitProbe(4, task, this, this.#run);
  }

  get isQuiet(): boolean {
    return !this.#run.isOn;
  }

  start(): void {
    this.#at = 0;
    this.#digits = 0;
    this.#last = 0;
    this.#base64 = 0;
    this.#run.isOn = false;
    this.#probe.startRun();
  }

  digitAt(at: number): number {
    this.end = at + 1;
    const { bytes, length } = this.#window;
    const value = at < length ? (HEX_VALUES[bytes[at] ?? 0] ?? 16) : 16;
    return value < 16 ? value : NO_DIGIT;
  }

  /** Scans up to a position. */
  run(limit: number): void {
    const { bytes } = this.#window;
    while (this.#at < limit) {
      if (this.#digits === 0) this.#skip(bytes, limit);
      if (this.#readDigits(bytes, limit)) this.#examine();
      else if (this.#at < limit) this.#endRun();
    }
  }

  /** Advances to where a run of MIN_DIGITS may begin. */
  #skip(bytes: Uint8Array, limit: number): void {
    let at = this.#at;
    // If the last of MIN_DIGITS bytes is not a digit, none of them begins such a run.
    while (at + MIN_DIGITS <= limit && HEX_VALUES[bytes[at + MIN_DIGITS - 1] ?? 0] === 16) {
      at += MIN_DIGITS;
    }
    this.#at = at;
  }

  /** Advances to a digit that may complete a match. Returns whether there is one. */
  #readDigits(bytes: Uint8Array, limit: number): boolean {
    const { fours, shift, hasSpace } = this.#task.automaton.prefilter;
    const from = this.#at;
    let at = from;
    let last = this.#last;
    let base64 = this.#base64;
    let maySee = false;
    while (at < limit) {
      const digit = HEX_VALUES[bytes[at] ?? 0] ?? 16;
      if (digit > 15) break;
      at += 1;
      last = (last << 4) | digit;
      base64 = (base64 << 1) | ((BASE64_VALUES[last & 255] ?? NO_DIGIT) < NO_DIGIT ? 1 : 0);
      const bit = hashOf(last) >>> shift;
      const kind = MARKER_KINDS[(last >>> 8) & 255] ?? 0;
      maySee =
        (((fours[bit >>> 5] ?? 0) >>> bit) & 1) === 1 ||
        kind === 1 ||
        (hasSpace && (last & 255) === PLUS) ||
        (base64 & SIX_DIGITS) === SIX_DIGITS;
      if (maySee) break;
    }
    this.#at = at;
    this.#last = last;
    this.#base64 = base64;
    this.#take(bytes, from, at);
    return maySee;
  }

  #take(bytes: Uint8Array, from: number, to: number): void {
    const run = this.#run;
    for (let at = from; at < to && run.isOn; at += 1) {
      run.push(HEX_VALUES[bytes[at] ?? 0] ?? 0, at, at + 1);
    }
    this.#digits += to - from;
    this.#probe.remember(this.#digits, from, to);
  }

  #endRun(): void {
    if (this.#run.isOn) this.#run.finish(false);
    this.#digits = 0;
    this.#last = 0;
    this.#base64 = 0;
    this.#probe.startRun();
    this.#at += 1;
  }

  /** Examines the bytes that end in the last digit. */
  #examine(): void {
    const digits = this.#digits;
    const last = this.#last;
    const phase = digits & 1;
    const { prefilter } = this.#task.automaton;
    const isBase64 = (this.#base64 & SIX_DIGITS) === SIX_DIGITS;
    if (prefilter.mayBeginFour(last)) this.#probe.sawBytes(last, phase, digits, this.#at);
    if (isBase64) this.#probe.sawDigits(phase, digits, this.#at);
    if (isEscapePair(last, prefilter.hasSpace)) this.#probe.sawEscape(phase, digits, this.#at);
  }

  /** Called at the end of the text. */
  finish(): void {
    if (this.#run.isOn) this.#run.finish(this.#window.isCut);
    this.#digits = 0;
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
}
