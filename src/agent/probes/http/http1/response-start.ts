import { MARGIN_CHARS, type Scrub, shortenedReadable } from '../../../secrets/cut-scrubbed.ts';

const NOTHING = Buffer.alloc(0);
const PROTOCOL = 'HTTP/1.';
const VERSION_AT = PROTOCOL.length;
const STATUS_AT = VERSION_AT + 2;
const STATUS_END = STATUS_AT + 3;
const DIGIT_ONE = 0x31;
/** `HTTP/`: an answer that does not begin with it is another protocol. */
const NAME_CHARS = 5;
/**
 * How much of an answer in another protocol is quoted. More is retained, since secrets are masked
 * before the cut.
 */
const MAX_FOREIGN_CHARS = 40;
const MAX_FOREIGN_BYTES = 2 * MARGIN_CHARS;

/**
 * | state   | meaning                                         | leaves when                       |
 * |---------|-------------------------------------------------|-----------------------------------|
 * | status  | too few bytes to tell interim from final        | the status is there               |
 * | interim | inside a 1xx response, which is dropped         | its blank line: status            |
 * | passing | the final response has begun: all bytes go on   | never                             |
 * | foreign | it is not HTTP at all: no byte is passed on     | never                             |
 */
type State = 'status' | 'interim' | 'passing' | 'foreign';

/**
 * Filters the start of a response for the HTTP/1 parser, which does not report the version, fails
 * on a 100 that was not requested, and accepts RTSP as HTTP. Drops interim responses (RFC 9110
 * 15.2) except 101, which no request here asks for and the parser refuses. Does not read header
 * fields; what it cannot interpret goes to the parser.
 */
export class ResponseStart {
  readonly #onFirstByte: () => void;
  readonly #maxInterimBytes: number;
  readonly #scrub: Scrub;
  #state: State = 'status';
  #pending: Buffer = NOTHING;
  #interimBytes = 0;
  #version: '1.0' | '1.1' = '1.1';
  #foreign: Buffer = NOTHING;

  /**
   * @param onFirstByte called at the first byte of each response, interim ones included: the last
   *   call is the final response's
   * @param scrub masks what is quoted of an answer in another protocol
   */
  constructor(onFirstByte: () => void, maxInterimBytes: number, scrub: Scrub) {
    this.#scrub = scrub;
    this.#onFirstByte = onFirstByte;
    this.#maxInterimBytes = maxInterimBytes;
  }

  /** Further bytes can go directly to the parser. */
  get passing(): boolean {
    return this.#state === 'passing';
  }

  /** HTTP version of the final response; 1.1 until it is known. */
  get version(): '1.0' | '1.1' {
    return this.#version;
  }

  /** The start of an answer that is not HTTP, for messages; null if it is, or may be. */
  get foreign(): string | null {
    if (this.#state !== 'foreign') return null;
    const inAscii = (text: string): string => text.replaceAll(/[^\0-\x7e]/gu, '?');
    const text = this.#foreign.toString('utf8');
    return JSON.stringify(shortenedReadable(text, MAX_FOREIGN_CHARS, this.#scrub, inAscii));
  }

  /** More interim bytes than the limit; no more bytes pass. */
  get overflowed(): boolean {
    return this.#interimBytes > this.#maxInterimBytes;
  }

  /** The bytes for the parser; null if there are none (yet). */
  take(chunk: Buffer): Buffer | null {
    if (this.#state === 'passing') return chunk;
    if (this.#state === 'foreign') return null;
    if (this.#state === 'status' && this.#pending.length === 0) this.#onFirstByte();
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = NOTHING;
    for (;;) {
      if (this.#state === 'interim') {
        const rest = this.#afterInterim(bytes);
        if (rest === null) return null;
        this.#state = 'status';
        if (rest.length === 0) return null;
        this.#onFirstByte();
        bytes = rest;
      }
      const kind = kindOf(bytes);
      if (kind === 'incomplete') {
        this.#pending = bytes;
        return null;
      }
      if (kind === 'foreign') {
        this.#foreign = Buffer.from(bytes.subarray(0, MAX_FOREIGN_BYTES));
        this.#state = 'foreign';
        return null;
      }
      if (kind === 'final') {
        this.#version = bytes.toString('latin1', 0, STATUS_AT) === 'HTTP/1.0 ' ? '1.0' : '1.1';
        this.#state = 'passing';
        return bytes;
      }
      this.#state = 'interim';
    }
  }

  #afterInterim(bytes: Buffer): Buffer | null {
    const end = bytes.indexOf('\r\n\r\n');
    const usedBytes = end === -1 ? Math.max(0, bytes.length - 3) : end + 4;
    this.#interimBytes += usedBytes;
    if (this.overflowed) return null;
    if (end !== -1) return bytes.subarray(usedBytes);
    this.#pending = bytes.subarray(usedBytes);
    return null;
  }
}

function kindOf(bytes: Buffer): 'incomplete' | 'interim' | 'final' | 'foreign' {
  // Parsers accept line breaks before the status line (RFC 9112 2.2).
  if (bytes[0] === 0x0d || bytes[0] === 0x0a) return 'final';
  for (let at = 0; at < PROTOCOL.length; at += 1) {
    if (at >= bytes.length) return 'incomplete';
    if (bytes[at] !== PROTOCOL.charCodeAt(at)) return at < NAME_CHARS ? 'foreign' : 'final';
  }
  if (bytes.length <= STATUS_AT) return 'incomplete';
  if (bytes[STATUS_AT] !== DIGIT_ONE) return 'final';
  if (bytes.length < STATUS_END) return 'incomplete';
  return bytes.toString('latin1', STATUS_AT, STATUS_END) === '101' ? 'final' : 'interim';
}
