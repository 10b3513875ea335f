/** The maximum size of a slice, which is parsed at once. */
export interface JsonSlice {
  /** UTF-16 units. A longer single text or number is parsed at once. */
  readonly maxChars: number;
  /** Members of objects and items of lists. */
  readonly maxValues: number;
}

/** A slice takes at most 5 ms, for any content. */
const SLICE: JsonSlice = { maxChars: 131_072, maxValues: 8_000 };

/**
 * Like JSON.parse, but parses in slices, between which other work can run. Assembles lists and objects longer
 * than a slice from runs of members, each parsed by JSON.parse. Parses shorter ones as a whole.
 *
 * @param pause called after each slice, with the number of UTF-16 units in it
 * @throws SyntaxError where JSON.parse throws it
 */
export async function parseJsonInSlices(
  text: string,
  pause: (chars: number) => Promise<void>,
  slice: JsonSlice = SLICE,
): Promise<unknown> {
  const parser = new SlicedParser(text, slice);
  for (;;) {
    const chars = parser.parseSlice();
    if (chars === null) return parser.value();
    await pause(chars);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

type Members = Record<string, unknown>;

/** A list or object that is being assembled. */
type Frame =
  | { readonly isList: true; readonly value: unknown[] }
  | { readonly isList: false; readonly value: Members };

/** The token before `#from` in the innermost frame, which decides what may follow. */
type Before = 'nothing' | 'comma' | 'member';

class SlicedParser {
  readonly #text: string;
  readonly #slice: JsonSlice;
  /** The next unit to scan. */
  #at = 0;
  /** How many lists and objects are open at `#at`. */
  #depth = 0;
  /** Indexed by depth, from 1: the offset where each open list or object begins, and of its last comma (-1 if none). */
  readonly #opens: number[] = [];
  readonly #commas: number[] = [];
  /** The outermost open lists and objects that are being assembled: frame 0 has depth 1. */
  readonly #frames: Frame[] = [];
  /** The start of the text that is not parsed yet. */
  #from = 0;
  #before: Before = 'nothing';
  /** The approximate number of values since `#from`. */
  #values = 0;
  #root: unknown;

  constructor(text: string, slice: JsonSlice) {
    this.#text = text;
    this.#slice = slice;
  }

  /** Parses a slice and returns its length; null at the end. */
  parseSlice(): number | null {
    const text = this.#text;
    const { maxChars, maxValues } = this.#slice;
    while (this.#at < text.length) {
      const at = this.#at;
      const unit = text.charCodeAt(at);
      this.#at += 1;
      if (unit === QUOTE) {
        this.#at = endOfText(text, at);
        continue;
      }
      if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
        this.#depth += 1;
        this.#opens[this.#depth] = at;
        this.#commas[this.#depth] = -1;
        this.#values += 1;
      } else if (unit === COMMA) {
        this.#comma(at);
        this.#values += 1;
      } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) {
        if (this.#depth === this.#frames.length) this.#close(at, unit === CLOSE_LIST);
        this.#depth -= 1;
      } else continue;
      if (this.#at - this.#from > maxChars || this.#values > maxValues) {
        const chars = this.#cut();
        if (chars > 0) return chars;
      }
    }
    return null;
  }

  /** Returns the parsed value. Call it after the last slice. */
  value(): unknown {
    if (this.#depth > 0) throw malformed();
    const rest = this.#text.slice(this.#from);
    if (this.#before === 'nothing') return JSON.parse(rest);
    requireBlank(rest);
    return this.#root;
  }

  #comma(at: number): void {
    if (this.#depth === 0) throw malformed();
    this.#commas[this.#depth] = at;
    if (this.#before !== 'member' || this.#depth > this.#frames.length) return;
    requireBlank(this.#text.slice(this.#from, at));
    this.#from = at + 1;
    this.#before = 'comma';
  }

  /**
   * Parses complete members of the innermost frame, opening deeper frames where needed.
   *
   * @returns how many UTF-16 units were parsed; 0 if no member is complete yet
   */
  #cut(): number {
    for (;;) {
      const depth = this.#frames.length;
      const comma = this.#commas[depth] ?? -1;
      if (depth > 0 && comma >= this.#from) {
        const chars = comma - this.#from;
        this.#take(comma, true);
        this.#from = comma + 1;
        this.#before = 'comma';
        this.#values = 0;
        return Math.max(1, chars);
      }
      if (depth === this.#depth) return 0;
      this.#open(this.#opens[depth + 1] ?? 0);
    }
  }

  /** Adds the members from `#from` to `to` to the innermost frame. */
  #take(to: number, mustBeSome: boolean): void {
    const run = this.#text.slice(this.#from, to);
    if (this.#before === 'member') {
      requireBlank(run);
      return;
    }
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw malformed();
    let isEmpty = true;
    if (frame.isList) {
      for (const item of JSON.parse(`[${run}]`)) {
        frame.value.push(item);
        isEmpty = false;
      }
    } else {
      const members: Members = JSON.parse(`{${run}}`);
      for (const key of Object.keys(members)) {
        put(frame.value, key, members[key]);
        isEmpty = false;
      }
    }
    if (isEmpty && (mustBeSome || this.#before === 'comma')) throw malformed();
  }

  /** Opens a frame within the innermost one. */
  #open(at: number): void {
    if (this.#before === 'member') throw malformed();
    const frame: Frame =
      this.#text.charCodeAt(at) === OPEN_LIST
        ? { isList: true, value: [] }
        : { isList: false, value: {} };
    const before = this.#text.slice(this.#from, at);
    const outer = this.#frames.at(-1);
    if (outer === undefined || outer.isList) {
      requireBlank(before);
      if (outer === undefined) this.#root = frame.value;
      else outer.value.push(frame.value);
    } else {
      // Adds an empty text as the value, so that JSON.parse accepts the key.
      const [key] = Object.keys(JSON.parse(`{${before}""}`));
      if (key === undefined) throw malformed();
      put(outer.value, key, frame.value);
    }
    this.#frames.push(frame);
    this.#from = at + 1;
    this.#before = 'nothing';
  }

  #close(at: number, isList: boolean): void {
    const frame = this.#frames.at(-1);
    if (frame?.isList !== isList) throw malformed();
    this.#take(at, false);
    this.#frames.pop();
    this.#from = at + 1;
    this.#before = 'member';
  }
}

/** The offset after the string that begins at `at`; the end of the input if it is not closed. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    at += unit === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

/** As in JSON.parse, `__proto__` is a key like any other. */
function put(members: Members, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value;
  else {
    const property = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(members, key, property);
  }
}

/** RFC 8259 2. */
const BLANK = /^[ \t\n\r]*$/;

function requireBlank(text: string): void {
  if (!BLANK.test(text)) throw malformed();
}

function malformed(): SyntaxError {
  return new SyntaxError('the text is not valid JSON');
}
