import { BASE64_VALUES, HEX_VALUES } from './bytes-of-text.ts';
import { DigitProbe } from './digit-probe.ts';
import { DigitRun } from './digit-run.ts';
import { escapePairs } from './digit-tables.ts';
import { hashOf } from './prefilter.ts';
import type { Scanner } from './scanner-type.ts';
import type { Report, Task, Window } from './window.ts';

/** Those of four bytes, and no secret is shorter. */
const MIN_DIGITS = 8;
const NO_DIGIT = 64;
/** The last digits of six bytes that are each a digit of base64. */
const SIX_DIGITS = 0x555;

/** Finds secrets in hexadecimal digits, in capitals or not. */
export class HexSearch {
  /** Where what was read ends, of `digitAt`. */
  end = 0;
  readonly #window: Window;
  readonly #task: Task;
  readonly #run: DigitRun;
  readonly #probe: DigitProbe;
  #at = 0;
  /** Of the run: its digits so far, and the last eight of them. */
  #digits = 0;
  #last = 0;
  /** Of the last bytes, whether each was a digit of base64. */
  #kinds = 0;

  constructor(
    window: Window,
    task: Task,
    makeScanner: (report: Report) => Scanner,
    report: Report,
  ) {
    this.#window = window;
    this.#task = task;
    this.#run = new DigitRun(4, makeScanner, report);
    this.#probe = new DigitProbe(4, window, task, this, this.#run);
  }

  get isQuiet(): boolean {
    return !this.#run.isOn;
  }

  start(): void {
    this.#at = 0;
    this.#digits = 0;
    this.#run.isOn = false;
  }

  digitAt(at: number): number {
    this.end = at + 1;
    const { bytes, length } = this.#window;
    const value = at < length ? (HEX_VALUES[bytes[at] ?? 0] ?? 16) : 16;
    return value < 16 ? value : NO_DIGIT;
  }

  /** Looks at what is before a position. */
  run(limit: number): void {
    const { bytes } = this.#window;
    const { fours, shift, hasSpace } = this.#task.automaton.prefilter;
    const pairs = escapePairs(hasSpace);
    let at = this.#at;
    while (at < limit) {
      if (this.#digits === 0) {
        // Of so many bytes, none begins a run that is long enough if the last is no digit.
        while (at + MIN_DIGITS <= limit && HEX_VALUES[bytes[at + MIN_DIGITS - 1] ?? 0] === 16) {
          at += MIN_DIGITS;
        }
        if (at >= limit) break;
      }
      const digit = HEX_VALUES[bytes[at] ?? 0] ?? 16;
      at += 1;
      if (digit > 15) {
        if (this.#run.isOn) this.#run.finish(false);
        this.#digits = 0;
        continue;
      }
      if (this.#run.isOn) this.#run.push(digit, at - 1, at);
      this.#probe.recent[this.#digits % this.#probe.recent.length] = at - 1;
      this.#digits += 1;
      this.#last = (this.#last << 4) | digit;
      const last = this.#last;
      this.#kinds = (this.#kinds << 1) | ((BASE64_VALUES[last & 255] ?? 64) < 64 ? 1 : 0);
      const phase = this.#digits & 1;
      const bit = hashOf(last) >>> shift;
      if ((((fours[bit >>> 5] ?? 0) >>> bit) & 1) === 1 && this.#digits >= MIN_DIGITS) {
        this.#probe.sawBytes(last, phase, this.#digits, at);
      }
      const pair = last & 65_535;
      if ((((pairs[pair >>> 5] ?? 0) >>> pair) & 1) === 1 && this.#digits >= 4) {
        this.#probe.sawEscape(phase, this.#digits, at);
      }
      if ((this.#kinds & SIX_DIGITS) === SIX_DIGITS && this.#digits >= 12) {
        this.#probe.search(phase, this.#digits, at);
      }
    }
    this.#at = at;
  }

  /** The text is at its end. */
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
