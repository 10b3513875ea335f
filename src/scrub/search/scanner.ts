import { Base64Search } from '../encodings/base64-search.ts';
import { HexSearch } from '../encodings/hex-search.ts';
import { SHIFT_UNIT } from './decodings.ts';
import { KNOWN_BYTES } from './escaped-prefilter.ts';
import { TextSearch } from './text-search.ts';
import { LOOK_AHEAD_BYTES, type OnMatch, type Scanner, type Task, type Window } from './window.ts';

/** Digits that encode digits are decoded, but no deeper. */
const MAX_LEVEL = 2;
/** Bytes per slice: at most a millisecond, if nearly all bytes are escapes. */
const SLICE_BYTES = 1024;
/** Decided bytes that are retained: an escape may begin before a mask. */
const LOOK_BACK_BYTES = 256;
const START_BYTES = 512;
/** The least that is dropped at once, as dropping moves the rest of the bytes. */
const MIN_DROP_BYTES = 8192;

/** Finds secrets in all their forms: plain, escaped, in base64 and in hexadecimal. */
export class TextScanner implements Scanner {
  readonly window: Window = { bytes: new Uint8Array(0), length: 0, isCut: false };
  readonly #text: TextSearch;
  readonly #base64: Base64Search | null;
  readonly #hex: HexSearch | null;
  /** Scanned up to here. */
  #at = 0;

  /** @param level how many times the text was decoded from digits */
  constructor(task: Task, report: OnMatch, level = 0) {
    const { window } = this;
    this.#text = new TextSearch(window, task, report);
    const inner = (innerReport: OnMatch): Scanner => new TextScanner(task, innerReport, level + 1);
    const isDeepest = level === MAX_LEVEL;
    const { escapes } = this.#text;
    this.#base64 = isDeepest ? null : new Base64Search(window, escapes, task, inner, report);
    this.#hex = isDeepest ? null : new HexSearch(window, task, inner, report);
  }

  get length(): number {
    return this.window.length;
  }

  start(): void {
    this.window.length = 0;
    this.window.isCut = false;
    this.#at = 0;
    this.#text.start();
    this.#base64?.start();
    this.#hex?.start();
  }

  /** Scans the given bytes in place instead of a window of its own. */
  open(bytes: Uint8Array, length: number): void {
    this.start();
    this.window.bytes = bytes;
    this.window.length = length;
  }

  /** Releases the bytes. */
  close(): void {
    this.window.bytes = new Uint8Array(0);
    this.window.length = 0;
  }

  reserve(bytes: number): Uint8Array {
    const { length } = this.window;
    if (length + bytes > this.window.bytes.length) {
      const larger = new Uint8Array(Math.max(START_BYTES, (length + bytes) * 2));
      larger.set(this.window.bytes.subarray(0, length));
      this.window.bytes = larger;
    }
    return this.window.bytes;
  }

  filledTo(length: number): void {
    this.window.length = length;
  }

  run(isWhole: boolean): boolean {
    const { length } = this.window;
    const limit = isWhole ? length : length - LOOK_AHEAD_BYTES;
    const to = Math.min(limit, this.#at + SLICE_BYTES);
    if (to > this.#at) {
      this.#text.run(to);
      this.#base64?.run(to);
      this.#hex?.run(to);
      this.#at = to;
    }
    return to >= limit;
  }

  end(isCut: boolean): void {
    this.window.isCut = isCut;
    while (!this.run(true));
    this.#text.finish();
    this.#base64?.finish();
    this.#hex?.finish();
  }

  quietFrom(): number {
    const isQuiet =
      this.#text.isQuiet && (this.#base64?.isQuiet ?? true) && (this.#hex?.isQuiet ?? true);
    return isQuiet ? this.#at - KNOWN_BYTES : -1;
  }

  undecided(): number {
    let least = Math.min(this.#base64?.undecided() ?? this.#at, this.#hex?.undecided() ?? this.#at);
    for (const position of this.#text.undecided()) least = Math.min(least, position);
    return Math.max(0, least);
  }

  dropDecided(): number {
    return this.drop(this.undecided());
  }

  /** Drops bytes before a position that later matches do not need. */
  drop(position: number): number {
    const bytes = Math.floor((position - LOOK_BACK_BYTES) / SHIFT_UNIT) * SHIFT_UNIT;
    const { length } = this.window;
    // Dropping moves the rest of the bytes.
    if (bytes < MIN_DROP_BYTES || bytes < length / 2) return 0;
    this.window.bytes.copyWithin(0, bytes, length);
    this.window.length -= bytes;
    this.#at -= bytes;
    this.#text.shift(bytes);
    this.#base64?.shift(bytes);
    this.#hex?.shift(bytes);
    return bytes;
  }
}
