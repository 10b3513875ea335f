import {
  AMPERSAND,
  BACKSLASH,
  HEX_VALUES,
  IS_MARKER,
  mayEscape,
  PERCENT,
  PLUS,
  SEMICOLON,
} from '../search/character-tables.ts';
import { MAX_ESCAPE_BYTES, type Window } from '../search/window.ts';
import { codePointOfName, MAX_NAME_CHARS, nameHash } from './html-names.ts';

/** How the characters of an escape are escaped themselves. */
type Written = 'plain' | 'json' | 'url' | 'html';

const MAX_ALTERNATIVES = 32;
/** Backslashes double with each JSON in JSON; deeper levels count as this one. */
export const MAX_BACKSLASHES = 16;
/** Levels of nesting such as `%25252541` and `&amp;amp;lt;`. */
const MAX_REPEATS = 4;
const REPLACEMENT = 0xfffd;
const HIGHEST_CODE_POINT = 0x10ffff;

const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x76, 0x0b],
]);

/**
 * All alternatives for the escape at a position: of JSON (and similar programming languages), a URL
 * or HTML, plain or nested. Which one is meant depends on the program that wrote the text, so a
 * search follows all of them.
 */
export class Escapes {
  /** The number of alternatives at the last position. */
  count = 0;
  /** The end of each alternative. */
  readonly ends = new Int32Array(MAX_ALTERNATIVES);
  /** The code point, or one byte of it (`isByte`). */
  readonly codes = new Int32Array(MAX_ALTERNATIVES);
  readonly #areBytes = new Uint8Array(MAX_ALTERNATIVES);
  readonly #window: Window;
  /** The end of the last character that was read. */
  #end = 0;

  constructor(window: Window) {
    this.#window = window;
  }

  /** Finds the alternatives at a position with a marker or a plus. Returns their number. */
  readAt(at: number): number {
    this.count = 0;
    const first = this.#byteAt(at);
    if (first === PLUS) this.#add(at, at + 1, 0x20, true);
    else if (IS_MARKER[first] !== 1 || !mayEscape(first, this.#byteAt(at + 1))) return 0;
    else if (first === BACKSLASH) this.#readBackslashes(at);
    else if (first === PERCENT) this.#readPercent(at);
    else this.#readAmpersand(at);
    return this.count;
  }

  /**
   * The end of an escape that is not nested; -1 if there is none. For JSON only those of RFC 8259
   * 7.
   */
  endOfPlain(at: number): number {
    const first = this.#byteAt(at);
    if (first === BACKSLASH) {
      if (!isJsonEscape(this.#byteAt(at + 1)) || this.#json('plain', at) < 0) return -1;
    } else if (first === PERCENT) {
      if (this.#url('plain', at) < 0) return -1;
    } else if (first !== AMPERSAND || this.#html('plain', at) < 0) return -1;
    return this.#end;
  }

  /** The UTF-8 bytes of an alternative, the first in the lowest eight bits. */
  bytesOf(alternative: number): number {
    const code = this.codes[alternative] ?? 0;
    if (code < 0x80 || this.#areBytes[alternative] === 1) return code;
    const last = 0x80 | (code & 63);
    if (code < 0x800) return 0xc0 | (code >> 6) | (last << 8);
    const third = 0x80 | ((code >> 6) & 63);
    if (code < 0x10000) return 0xe0 | (code >> 12) | (third << 8) | (last << 16);
    return 0xf0 | (code >> 18) | ((0x80 | ((code >> 12) & 63)) << 8) | (third << 16) | (last << 24);
  }

  sizeOf(alternative: number): number {
    const code = this.codes[alternative] ?? 0;
    if (code < 0x80 || this.#areBytes[alternative] === 1) return 1;
    return code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }

  #add(from: number, to: number, code: number, isByte: boolean): void {
    if (this.count === MAX_ALTERNATIVES || to - from > MAX_ESCAPE_BYTES) return;
    this.ends[this.count] = to;
    this.codes[this.count] = code;
    this.#areBytes[this.count] = isByte ? 1 : 0;
    this.count += 1;
  }

  /** Adds an alternative and, if it is a marker itself, the escape that begins with it. */
  #addWithInner(at: number, code: number, isByte: boolean, written: Written): void {
    const end = this.#end;
    this.#add(at, end, code, isByte);
    if (code === PLUS) this.#add(at, end, 0x20, true);
    else if (code === BACKSLASH) this.#addIf(at, this.#json(written, at), false);
    else if (code === PERCENT) this.#addIf(at, this.#url(written, at), true);
    else if (code === AMPERSAND) this.#addIf(at, this.#html(written, at), false);
  }

  #addIf(at: number, code: number, isByte: boolean): void {
    if (code >= 0) this.#add(at, this.#end, code, isByte);
  }

  #readBackslashes(at: number): void {
    let last = at;
    while (last - at < MAX_BACKSLASHES && this.#byteAt(last + 1) === BACKSLASH) last += 1;
    // At any level of nesting, the last backslash begins the escape.
    if (last > at) {
      if (this.#byteAt(last + 1) !== BACKSLASH) this.#addIf(at, this.#json('plain', last), false);
      for (let size = 2; size <= last - at + 1; size *= 2) {
        this.#add(at, at + size, BACKSLASH, false);
      }
    } else {
      const code = this.#json('plain', at);
      if (code >= 0) this.#addWithInner(at, code, false, 'json');
    }
    const after = this.#byteAt(last + 1);
    if (after === PERCENT) this.#addIf(at, this.#json('url', last), false);
    else if (after === AMPERSAND) this.#addIf(at, this.#json('html', last), false);
  }

  #readPercent(at: number): void {
    let end = at + 1;
    for (let repeat = 0; repeat < MAX_REPEATS; repeat += 1) {
      const byte = this.#hexPair(end);
      if (byte < 0) break;
      this.#end = end + 2;
      if (repeat === 0) this.#addWithInner(at, byte, true, 'url');
      else this.#add(at, end + 2, byte, true);
      if (byte !== PERCENT) break;
      end += 2;
    }
    // Escaped hexadecimal digits.
    if (this.#hasMarker(at + 1, 2)) {
      this.#addIf(at, this.#url('json', at), true);
      this.#addIf(at, this.#url('html', at), true);
    }
  }

  #readAmpersand(at: number): void {
    const code = this.#html('plain', at);
    if (code >= 0) {
      let end = this.#end;
      this.#addWithInner(at, code, false, 'html');
      for (let repeat = 0; code === AMPERSAND && repeat < MAX_REPEATS; repeat += 1) {
        const inner = this.#htmlBody('plain', end);
        if (inner < 0) break;
        end = this.#end;
        this.#add(at, end, inner, false);
        if (inner !== AMPERSAND) break;
      }
    }
    if (this.#hasMarker(at + 1, MAX_NAME_CHARS + 2)) {
      this.#addIf(at, this.#html('json', at), false);
      this.#addIf(at, this.#html('url', at), false);
    }
  }

  /** Whether one of the next bytes is a marker. */
  #hasMarker(at: number, count: number): boolean {
    for (let next = at; next < at + count; next += 1) {
      if (IS_MARKER[this.#byteAt(next)] === 1) return true;
    }
    return false;
  }

  /** RFC 8259 7 and what programming languages add; -1 if there is no such escape. */
  #json(written: Written, at: number): number {
    if (this.#read(written, at) !== BACKSLASH) return -1;
    const letter = this.#read(written, this.#end);
    if (letter === 0x75) return this.#unicode(written);
    if (letter === 0x78) return this.#digits(written, 2);
    const simple = SIMPLE_ESCAPES.get(letter);
    if (simple !== undefined) return simple;
    const isSign = letter >= 0x20 && letter < 0x7f && !isAlphanumeric(letter);
    return isSign ? letter : -1;
  }

  /** Behind `\u`: four digits, two such escapes for a surrogate pair, or a number in braces. */
  #unicode(written: Written): number {
    const start = this.#end;
    if (this.#read(written, start) === 0x7b) return this.#inBraces(written);
    this.#end = start;
    const high = this.#digits(written, 4);
    if (high < 0xd800 || high > 0xdfff) return high;
    const end = this.#end;
    const low = high < 0xdc00 ? this.#secondHalf(written) : -1;
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    this.#end = end;
    return REPLACEMENT;
  }

  /** The second half of a surrogate pair, behind any number of backslashes. */
  #secondHalf(written: Written): number {
    let byte = this.#read(written, this.#end);
    if (byte !== BACKSLASH) return -1;
    for (let count = 0; count < MAX_BACKSLASHES && byte === BACKSLASH; count += 1) {
      byte = this.#read(written, this.#end);
    }
    return byte === 0x75 ? this.#digits(written, 4) : -1;
  }

  #inBraces(written: Written): number {
    let code = 0;
    for (let digits = 0; digits <= 6; digits += 1) {
      const byte = this.#read(written, this.#end);
      if (byte === 0x7d) return digits > 0 ? scalarOf(code) : -1;
      const value = HEX_VALUES[byte] ?? 16;
      if (value > 15) return -1;
      code = code * 16 + value;
    }
    return -1;
  }

  #digits(written: Written, count: number): number {
    let code = 0;
    for (let digit = 0; digit < count; digit += 1) {
      const value = HEX_VALUES[this.#read(written, this.#end)] ?? 16;
      if (value > 15) return -1;
      code = code * 16 + value;
    }
    return code;
  }

  /** RFC 3986 2.1: the byte; -1 if there is no such escape. */
  #url(written: Written, at: number): number {
    return this.#read(written, at) === PERCENT ? this.#digits(written, 2) : -1;
  }

  /** A character reference of HTML; -1 if there is none. */
  #html(written: Written, at: number): number {
    return this.#read(written, at) === AMPERSAND ? this.#htmlBody(written, this.#end) : -1;
  }

  /** A character reference behind its ampersand. */
  #htmlBody(written: Written, at: number): number {
    if (this.#read(written, at) === 0x23) return this.#htmlNumber(written);
    let hash = 0;
    this.#end = at;
    for (let chars = 0; chars <= MAX_NAME_CHARS; chars += 1) {
      const byte = this.#read(written, this.#end);
      if (byte === SEMICOLON) return chars === 0 ? -1 : codePointOfName(hash);
      if (!isAlphanumeric(byte)) return -1;
      hash = nameHash(hash, byte);
    }
    return -1;
  }

  /** The semicolon may be missing. */
  #htmlNumber(written: Written): number {
    let end = this.#end;
    const radix = (this.#read(written, end) | 0x20) === 0x78 ? 16 : 10;
    if (radix === 16) end = this.#end;
    let code = 0;
    let digits = 0;
    for (; digits < 8; digits += 1) {
      const value = HEX_VALUES[this.#read(written, end)] ?? 16;
      if (value >= radix) break;
      end = this.#end;
      code = code * radix + value;
    }
    if (digits === 0) return -1;
    if (this.#read(written, end) !== SEMICOLON) this.#end = end;
    return scalarOf(code);
  }

  /** Reads one character, which may be escaped, and sets `#end`. */
  #read(written: Written, at: number): number {
    const byte = this.#byteAt(at);
    this.#end = at + 1;
    if (written === 'plain' || IS_MARKER[byte] !== 1) return byte;
    let code = -1;
    if (byte === BACKSLASH && written === 'json') code = this.#json('plain', at);
    else if (byte === PERCENT && written === 'url') code = this.#url('plain', at);
    else if (byte === AMPERSAND && written === 'html') code = this.#html('plain', at);
    if (code >= 0) return code;
    this.#end = at + 1;
    return byte;
  }

  #hexPair(at: number): number {
    const high = HEX_VALUES[this.#byteAt(at)] ?? 16;
    const low = HEX_VALUES[this.#byteAt(at + 1)] ?? 16;
    return high > 15 || low > 15 ? -1 : high * 16 + low;
  }

  /** 256 behind the end. */
  #byteAt(at: number): number {
    return at < this.#window.length ? (this.#window.bytes[at] ?? 256) : 256;
  }
}

function isAlphanumeric(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a && byte < 0x80) || (byte >= 0x30 && byte <= 0x39);
}

function scalarOf(code: number): number {
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return isSurrogate || code > HIGHEST_CODE_POINT ? REPLACEMENT : code;
}

function isJsonEscape(letter: number): boolean {
  return letter < 256 && '"\\/bfnrtu'.includes(String.fromCharCode(letter));
}
