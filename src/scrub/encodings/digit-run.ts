import type { OnMatch, Scanner } from '../search/window.ts';
import { PhaseStream } from './phase-stream.ts';

const START_SIZE = 256;
/** Digits that are collected before they are searched. */
const BLOCK_DIGITS = 4096;
/** Searched digits that are retained for a phase that begins later. */
const KEPT_DIGITS = 32;

/**
 * A part of a run of digits of 4 or 6 bits. It is not known at which digits bytes begin: each
 * possible offset (a phase) is decoded and searched separately, while it may contain a match.
 * Reports a match as the digits that it touches.
 */
export class DigitRun {
  /** Whether anything is searched. */
  isOn: boolean = false;
  readonly #streams: readonly PhaseStream[];
  #digits = new Uint8Array(START_SIZE);
  /** Position of each digit in the text. */
  #froms = new Int32Array(START_SIZE);
  #tos = new Int32Array(START_SIZE);
  #count = 0;
  /** Number in the run of the first retained digit. */
  #first = 0;
  #unsearched = 0;

  /** @param makeScanner creates the scanner of the decoded bytes */
  constructor(bits: 4 | 6, makeScanner: (report: OnMatch) => Scanner, report: OnMatch) {
    const phases = bits === 6 ? [0, 1, 2, 3] : [0, 1];
    const found: OnMatch = (from, to) => {
      const first = Math.max(0, from - this.#first);
      report(this.#froms[first] ?? 0, this.#tos[to - 1 - this.#first] ?? 0);
    };
    this.#streams = phases.map(() => new PhaseStream(bits, makeScanner, found));
  }

  /** Starts with a digit of the run; searches nothing until `search` is called. */
  start(firstDigit: number): void {
    this.isOn = true;
    this.#first = firstDigit;
    this.#count = 0;
    this.#unsearched = 0;
    for (const stream of this.#streams) stream.isOn = false;
  }

  push(digit: number, from: number, to: number): void {
    if (this.#count === this.#digits.length) this.#grow();
    this.#digits[this.#count] = digit;
    this.#froms[this.#count] = from;
    this.#tos[this.#count] = to;
    this.#count += 1;
    this.#unsearched += 1;
    if (this.#unsearched >= BLOCK_DIGITS) this.#flush();
  }

  /**
   * Searches a phase from near the last digit on.
   *
   * @param neededTo the number of the digit up to which it is searched in any case
   */
  search(phase: number, neededTo: number): void {
    const stream = this.#streams[phase];
    const end = this.#first + this.#count;
    if (stream === undefined) return;
    if (!stream.isOn) {
      const phases = this.#streams.length;
      const from = Math.max(this.#first, end - KEPT_DIGITS);
      stream.start(from + ((phase + phases - (from % phases)) % phases));
    }
    stream.neededTo = Math.max(stream.neededTo, neededTo);
  }

  /** Called at the end of the run. */
  finish(isCut: boolean): void {
    for (const stream of this.#streams) {
      if (!stream.isOn) continue;
      stream.feed(this.#digits, this.#first, this.#count);
      stream.finish(isCut);
    }
    this.isOn = false;
  }

  /** Position in the text of the first digit that may still be reported. */
  undecided(): number {
    return this.#froms[this.#firstNeeded() - this.#first] ?? 0;
  }

  shift(bytes: number): void {
    for (let at = 0; at < this.#count; at += 1) {
      this.#froms[at] = (this.#froms[at] ?? 0) - bytes;
      this.#tos[at] = (this.#tos[at] ?? 0) - bytes;
    }
  }

  #flush(): void {
    this.#unsearched = 0;
    this.isOn = false;
    for (const stream of this.#streams) {
      if (!stream.isOn) continue;
      stream.feed(this.#digits, this.#first, this.#count);
      stream.stopIfQuiet();
      if (stream.isOn) this.isOn = true;
    }
    const needed = this.#firstNeeded();
    const dropped = needed - this.#first;
    // Not after each block, as dropping moves the rest of the digits.
    if (dropped < this.#count / 2) return;
    this.#digits.copyWithin(0, dropped, this.#count);
    this.#froms.copyWithin(0, dropped, this.#count);
    this.#tos.copyWithin(0, dropped, this.#count);
    this.#first = needed;
    this.#count -= dropped;
  }

  #firstNeeded(): number {
    let needed = Math.max(this.#first, this.#first + this.#count - KEPT_DIGITS);
    for (const stream of this.#streams) {
      if (stream.isOn) needed = Math.min(needed, stream.undecidedDigit());
    }
    return needed;
  }

  #grow(): void {
    const size = this.#count * 2;
    const digits = new Uint8Array(size);
    digits.set(this.#digits);
    this.#digits = digits;
    const froms = new Int32Array(size);
    froms.set(this.#froms);
    this.#froms = froms;
    const tos = new Int32Array(size);
    tos.set(this.#tos);
    this.#tos = tos;
  }
}
