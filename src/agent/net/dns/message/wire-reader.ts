import { labelText } from './names.ts';

const MAX_NAME_OCTETS = 255;
/** A name has at most 127 labels, so a valid one never needs more pointers. */
const MAX_POINTERS = 127;

/**
 * Maximum octets of names to read in one message, twice what a message can contain. The reader
 * reads the suffix at a pointer's target once for each position, so only a malicious message comes
 * near the limit.
 */
const MAX_NAME_WORK_OCTETS = 131_072;

const BAD_POINTER = 'a name contains a bad compression pointer';
const TOO_LONG = 'a name is longer than 255 octets';

/** A name, or the suffix of one, in presentation form. */
interface ReadName {
  /** With the trailing dot; the root is empty. */
  readonly text: string;
  /** Octets on the wire without compression, including the length octets and the root's. */
  readonly octets: number;
  readonly pointers: number;
}

const NO_NAME: ReadName = { text: '', octets: 1, pointers: 0 };

/**
 * Reads a DNS message from an untrusted sender: never throws, never loops endlessly, never leaves
 * its bounds. `problem` has the first error; after it every read returns 0 or nothing, so a caller
 * checks `problem` once after a sequence of reads, and in every loop.
 */
export class WireReader {
  readonly #message: Buffer;
  readonly #nameEnds = new Map<number, ReadName>();
  #workOctets = 0;
  #end: number;
  #offset = 0;
  #problem: string | null = null;
  /** Nesting depth of the pointers being followed. */
  #depth = 0;

  constructor(message: Buffer) {
    this.#message = message;
    this.#end = message.length;
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** Octets until the end of the message, or of the part that `within` reads. */
  get remaining(): number {
    return this.#problem === null ? this.#end - this.#offset : 0;
  }

  fail(problem: string): void {
    this.#problem ??= problem;
  }

  u8(): number {
    return this.#take(1) ? (this.#message[this.#offset - 1] ?? 0) : 0;
  }

  u16(): number {
    return this.#take(2) ? this.#message.readUInt16BE(this.#offset - 2) : 0;
  }

  u32(): number {
    return this.#take(4) ? this.#message.readUInt32BE(this.#offset - 4) : 0;
  }

  bytes(length: number): Buffer {
    if (!this.#take(length)) return Buffer.alloc(0);
    return this.#message.subarray(this.#offset - length, this.#offset);
  }

  /** The next octets without advancing; fewer at the end. */
  peek(length: number): Buffer {
    return this.#message.subarray(this.#offset, Math.min(this.#offset + length, this.#end));
  }

  /** One character-string: a length octet and as many octets (RFC 1035 3.3). */
  string(): Buffer {
    return this.bytes(this.u8());
  }

  /** Restricts `read` to the next `length` octets, and requires that it uses them all. */
  within<T>(length: number, what: string, read: () => T): T {
    const outerEnd = this.#end;
    if (length > this.remaining) this.fail(`${what} reaches past the end`);
    this.#end = Math.min(outerEnd, this.#offset + length);
    const value = read();
    if (this.remaining > 0) this.fail(`${what} is longer than what it contains`);
    this.#end = outerEnd;
    return value;
  }

  /** A name in presentation form, with the trailing dot (RFC 1035 4.1.4). */
  name(): string {
    const { text } = this.#readName(this.#offset, this.#end, (next) => {
      this.#offset = next;
    });
    return text === '' || this.#problem !== null ? '.' : text;
  }

  /** Reads labels from `start` to the root or a pointer; `passed` gets the position behind it. */
  #readName(start: number, end: number, passed: (next: number) => void): ReadName {
    let text = '';
    let octets = 1;
    let at = start;
    while (this.#problem === null) {
      const length = at < end ? this.#message[at] : undefined;
      if (length === undefined) {
        this.fail('a name reaches past the end');
      } else if (length === 0) {
        passed(at + 1);
        return { text, octets, pointers: 0 };
      } else if (length >= 0xc0) {
        passed(at + 2);
        const rest = this.#nameEnd(at, start, end);
        if (octets + rest.octets - 1 > MAX_NAME_OCTETS) this.fail(TOO_LONG);
        return {
          text: text + rest.text,
          octets: octets + rest.octets - 1,
          pointers: rest.pointers + 1,
        };
      } else if (length > 63) {
        this.fail('a name contains a label of an unknown kind');
      } else {
        const next = at + 1 + length;
        octets += length + 1;
        this.#workOctets += length + 1;
        if (next > end) this.fail('a name reaches past the end');
        else if (octets > MAX_NAME_OCTETS) this.fail(TOO_LONG);
        else if (this.#workOctets > MAX_NAME_WORK_OCTETS) {
          this.fail('its names unfold to more than can be real');
        } else text += `${labelText(this.#message, at + 1, next)}.`;
        at = next;
      }
    }
    return NO_NAME;
  }

  /**
   * The suffix of a name to which the pointer at `at` leads. It must be before the labels that
   * precede the pointer, which excludes loops, and contain few pointers itself.
   */
  #nameEnd(at: number, start: number, end: number): ReadName {
    const target = at + 1 < end ? this.#message.readUInt16BE(at) & 0x3fff : start;
    const known = this.#nameEnds.get(target);
    if (known !== undefined && target < start && known.pointers < MAX_POINTERS) return known;
    this.#depth += 1;
    if (target >= start || this.#depth > MAX_POINTERS) this.fail(BAD_POINTER);
    const read =
      this.#problem === null ? this.#readName(target, this.#message.length, () => {}) : NO_NAME;
    this.#depth -= 1;
    if (read.pointers >= MAX_POINTERS) this.fail(BAD_POINTER);
    this.#nameEnds.set(target, read);
    return read;
  }

  #take(length: number): boolean {
    if (length > this.remaining) this.fail('it ends too early');
    if (this.#problem !== null) return false;
    this.#offset += length;
    return true;
  }
}
