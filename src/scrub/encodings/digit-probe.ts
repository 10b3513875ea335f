import { ROOT } from '../automaton/automaton.ts';
import { BASE64_VALUES, HEX_VALUES, MARKER_KINDS } from '../search/character-tables.ts';
import { EscapedPrefilter, KNOWN_BYTES } from '../search/escaped-prefilter.ts';
import type { Task, Window } from '../search/window.ts';
import type { DigitRun } from './digit-run.ts';
import { isEscapePair } from './digit-tables.ts';

/** Reads digits one by one. */
export interface DigitReader {
  /** The end of the digit that `digitAt` returned last. */
  readonly end: number;
  /** The digit at a position; 64 if there is none, 65 for a line break. */
  digitAt(at: number): number;
}

const NO_DIGIT = 64;
/** The number of positions that are stored; a power of two. */
const RECENT = 32;
/** A match that the last digit completes began at most this many digits before. */
const BEFORE_DIGITS = 16;
const PROBE_BYTES = 64;
/** The first four bytes of a secret take at most this many bytes of inner digits. */
const DIGITS_MARGIN_BYTES = 12;
/** Enough for an escape, also a nested one, and the bytes before it. */
const ESCAPE_BYTES = 36;
const PROBE_WORK = 40;

/**
 * Checks digits that may contain a secret more closely, and searches them if they still may. All
 * digits of a run must be passed to `remember` first.
 */
export class DigitProbe {
  /** Positions of the last digits, by their number in the run. */
  readonly #recent = new Int32Array(RECENT);
  readonly #bits: 4 | 6;
  readonly #task: Task;
  readonly #reader: DigitReader;
  readonly #run: DigitRun;
  /** By phase, the number of the digit up to which inner digits were searched. */
  readonly #searchedTo = [0, 0, 0, 0];
  #hasSearched: boolean = false;
  readonly #probe: Window = { bytes: new Uint8Array(PROBE_BYTES), length: 0, isCut: false };
  readonly #escapedPrefilter: EscapedPrefilter;

  constructor(bits: 4 | 6, task: Task, reader: DigitReader, run: DigitRun) {
    this.#bits = bits;
    this.#task = task;
    this.#reader = reader;
    this.#run = run;
    this.#escapedPrefilter = new EscapedPrefilter(this.#probe, task);
  }

  /** Called when another run begins. */
  startRun(): void {
    if (!this.#hasSearched) return;
    this.#hasSearched = false;
    this.#searchedTo.fill(0);
  }

  /**
   * Stores the positions of consecutive digits.
   *
   * @param digits the number of digits of the run, with these
   */
  remember(digits: number, from: number, to: number): void {
    const recent = this.#recent;
    for (let at = Math.max(from, to - RECENT); at < to; at += 1) {
      recent[(digits - to + at) & (RECENT - 1)] = at;
    }
  }

  /**
   * Called when the last digit completes four bytes that a secret may begin with.
   *
   * @param phase of the digits that begin a byte
   * @param digits the number of digits of the run
   * @param end of the last digit
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

  /** Called when the last digit completes two bytes that an escape may begin with. */
  sawEscape(phase: number, digits: number, end: number): void {
    this.#task.work += PROBE_WORK;
    this.#decode(phase, digits, ESCAPE_BYTES);
    if (this.#mayBeginEscaped()) this.#search(phase, digits, end);
  }

  /** Called when the last digit completes six bytes that are digits of base64. */
  sawDigits(phase: number, digits: number, end: number): void {
    if (digits <= (this.#searchedTo[phase] ?? 0)) return;
    this.#task.work += PROBE_WORK;
    const first = this.#decode(phase, digits, PROBE_BYTES);
    const { length } = this.#probe;
    const isWhole = length < PROBE_BYTES;
    const searched = Math.floor(((length - DIGITS_MARGIN_BYTES) * 8) / this.#bits);
    const searchedTo = isWhole ? Number.MAX_SAFE_INTEGER : first + searched;
    this.#searchedTo[phase] = searchedTo;
    this.#hasSearched = true;
    if (this.#mayBeginInDigits()) this.#search(phase, digits, end, searchedTo);
  }

  /** Position of the first digit that may still be searched. */
  undecided(digits: number): number {
    return this.#recent[Math.max(0, digits - BEFORE_DIGITS) & (RECENT - 1)] ?? 0;
  }

  shift(bytes: number): void {
    for (let digit = 0; digit < RECENT; digit += 1) {
      this.#recent[digit] = (this.#recent[digit] ?? 0) - bytes;
    }
  }

  /** Searches the digits from a few before the last one, at least up to the number `neededTo`. */
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

  /** Decodes digits, beginning with one of the last. Returns its number. */
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
      if (this.#escapedPrefilter.mayHaveEscapeAt(at)) return true;
    }
    return false;
  }

  /** Whether the decoded bytes are digits that may contain a secret. */
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
