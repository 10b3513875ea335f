import { decodedHeaderText } from '../../../../runtime/net/header-text.ts';
import { type NativeParser, openParser, PAUSE, type ParserCallbacks, SKIP_BODY } from './llhttp.ts';

/** A final response's head as received: names in lower case, values as Latin-1 (RFC 9110 5.5). */
export interface ParsedHead {
  readonly status: number;
  readonly statusText: string;
  /** Repeated fields are arrays, in the order in which they came. */
  readonly headers: ReadonlyMap<string, string | readonly string[]>;
}

export interface ParserEvents {
  head(head: ParsedHead): void;
  data(piece: Buffer): void;
  end(): void;
}

/** Why the bytes are not a response. connection-end.ts maps the codes to failures. */
export interface ParseError {
  readonly code: string;
  /** One line for messages. */
  readonly message: string;
}

const WRONG_LENGTH: ParseError = {
  code: 'WRONG_CONTENT_LENGTH',
  message: 'the body is not as long as Content-Length says',
};
const HEADERS_TOO_LARGE: ParseError = { code: 'HEADERS_TOO_LARGE', message: 'too many headers' };
const UPGRADED: ParseError = {
  code: 'UNASKED_UPGRADE',
  message: 'it changes to another protocol unasked',
};

/**
 * Parses one final response (ResponseStart drops interim ones) in llhttp's strict mode, and also
 * compares the length of the body with Content-Length.
 */
export class ResponseParser implements ParserCallbacks {
  readonly #events: ParserEvents;
  readonly #isHead: boolean;
  readonly #maxHeaderBytes: number;
  readonly #native: NativeParser;
  #statusText = '';
  #name = '';
  /** Alternating names and values. */
  readonly #fields: string[] = [];
  #isValue: boolean = false;
  #headerBytes = 0;
  #contentLength = '';
  #bodyBytes = 0;
  #isComplete: boolean = false;
  #endsWithConnection: boolean = false;
  #error: ParseError | null = null;

  constructor(method: string, maxHeaderBytes: number, events: ParserEvents) {
    this.#events = events;
    this.#isHead = method === 'HEAD';
    this.#maxHeaderBytes = maxHeaderBytes;
    this.#native = openParser(this);
  }

  /** Bytes after the response are ignored. */
  execute(bytes: Buffer): ParseError | null {
    return this.#outcomeOf(this.#native.execute(bytes));
  }

  /**
   * The connection ended. `true` if that is the regular end of the body (RFC 9112 6.3, 8), `false`
   * if more had to arrive.
   */
  finish(): ParseError | boolean {
    if (!this.#endsWithConnection) return false;
    const error = this.#outcomeOf(this.#native.finish());
    return error ?? true;
  }

  /** May be called at any time, and again; nothing is reported after it. */
  free(): void {
    this.#isComplete = true;
    this.#native.free();
  }

  #outcomeOf(problem: ReturnType<NativeParser['execute']>): ParseError | null {
    if (this.#isComplete) return null;
    if (this.#error !== null || problem === null) return this.#error;
    if (this.#isWrongLength()) return WRONG_LENGTH;
    return { code: problem.code, message: problem.reason };
  }

  #isWrongLength(): boolean {
    return (
      this.#contentLength !== '' && this.#bodyBytes !== Number.parseInt(this.#contentLength, 10)
    );
  }

  onStatus(text: Buffer): number {
    // As bytes: a piece may end inside a character.
    this.#statusText += text.toString('latin1');
    return this.#countHeader(text.length);
  }

  onHeaderField(text: Buffer): number {
    if (this.#isValue) this.#name = '';
    this.#isValue = false;
    this.#name += text.toString('latin1');
    return this.#countHeader(text.length);
  }

  onHeaderValue(text: Buffer): number {
    const value = text.toString('latin1');
    if (this.#isValue) this.#fields[this.#fields.length - 1] += value;
    else this.#fields.push(this.#name.toLowerCase(), value);
    this.#isValue = true;
    return this.#countHeader(text.length);
  }

  #countHeader(bytes: number): number {
    this.#headerBytes += bytes;
    return this.#headerBytes < this.#maxHeaderBytes ? 0 : this.#fail(HEADERS_TOO_LARGE);
  }

  #fail(error: ParseError): number {
    this.#error ??= error;
    return -1;
  }

  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number {
    if (upgrade) return this.#fail(UPGRADED);
    const headers = headersOf(this.#fields);
    const length = headers.get('content-length') ?? '';
    this.#contentLength = typeof length === 'string' ? length : length.join('');
    this.#endsWithConnection = !keepAlive;
    // The trailer section may be as large again.
    this.#headerBytes = 0;
    const statusText = decodedHeaderText(this.#statusText);
    this.#events.head({ status, statusText, headers });
    if (this.#isComplete) return -1;
    return this.#isHead ? SKIP_BODY : 0;
  }

  onBody(piece: Buffer): number {
    this.#bodyBytes += piece.length;
    this.#events.data(piece);
    return this.#isComplete ? -1 : 0;
  }

  onMessageComplete(): number {
    if (!this.#isHead && this.#isWrongLength()) return this.#fail(WRONG_LENGTH);
    this.#isComplete = true;
    this.#events.end();
    return PAUSE;
  }
}

function headersOf(fields: readonly string[]): ParsedHead['headers'] {
  const headers = new Map<string, string | string[]>();
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const value = trimmed(fields[at + 1] ?? '');
    const known = headers.get(name);
    if (known === undefined) headers.set(name, value);
    else if (typeof known === 'string') headers.set(name, [known, value]);
    else known.push(value);
  }
  return headers;
}

/** RFC 9112 5.1: white space behind a value is not part of it, but llhttp leaves it there. */
function trimmed(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}
