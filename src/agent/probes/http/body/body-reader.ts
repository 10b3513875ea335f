import { NOT_SCRUBBED, type Scrub, shortenedText } from '../../../secrets/cut-scrubbed.ts';
import type { BodyMemory, BodyUse } from './body-memory.ts';
import { decodersFor, MAX_CODINGS } from './decoding/codings.ts';
import type { Decoder, Sink } from './decoding/decoder.ts';

export interface BodyReaderOptions {
  /** The response's Content-Encoding; several codings separated by commas. */
  readonly contentEncoding: string | null;
  /** Limit for the decoded bytes, and for the input of each decoder. */
  readonly maxBytes: number;
  /** Upper bound of the decoded bytes to retain. */
  readonly keepBytes: number;
  /** Shared memory for bytes beyond `ownBytes`; if it has none left, no more bytes are retained. */
  readonly memory?:
    | { readonly ownBytes: number; readonly shared: BodyMemory; readonly use: BodyUse }
    | undefined;
  /** Masks secrets in a Content-Encoding before it is cut for a message. */
  readonly scrub?: Scrub;
}

const MAX_CODING_CHARS = 100;

export interface ReadBody {
  /** The body's start, decoded, at most keepBytes. */
  readonly bytes: Buffer;
  /** Decoded bytes as far as they were read, at most maxBytes. */
  readonly totalBytes: number;
  /** The body was longer than maxBytes. */
  readonly truncated: boolean;
  /** The shared memory was not enough: fewer bytes were retained than requested. */
  readonly lackedMemory: boolean;
  /** A sentence; null if the body is what its Content-Encoding says. */
  readonly decodeError: string | null;
}

/**
 * Reads a response body as it arrives: decodes its content codings and stops at the limit. Uses
 * memory for the retained bytes and a few buffers of 16 KiB, however much the body inflates.
 *
 * With an unknown coding, the body is left as it is.
 */
export class BodyReader {
  readonly #options: BodyReaderOptions;
  readonly #decoders: Decoder[] = [];
  /** Takes the body as it arrives: the first decoder, or the store. */
  readonly #entry: Sink;
  #kept: Buffer = Buffer.alloc(0);
  #keptBytes = 0;
  #keepBytes: number;
  #totalBytes = 0;
  #hasInput: boolean = false;
  #truncated: boolean = false;
  #lackedMemory: boolean = false;
  #decodeError: string | null = null;
  #destroyed: boolean = false;

  constructor(options: BodyReaderOptions) {
    this.#options = options;
    this.#keepBytes = options.keepBytes;
    const makers = decodersFor(options.contentEncoding);
    const store: Sink = async (piece) => this.#store(piece);
    if (makers === 'too-many') {
      this.#fail(`there are more than ${MAX_CODINGS} codings`);
      this.#entry = store;
      return;
    }
    let next: Sink = store;
    for (const make of makers.toReversed()) {
      const decoder = make({ sink: next, fail: (problem) => this.#fail(problem) });
      this.#decoders.unshift(decoder);
      next = this.#limited(decoder);
    }
    this.#entry = next;
  }

  /**
   * Processes a piece; calls must not overlap. Waiting for it is the back-pressure. `enough`: the
   * limit is passed, the data is broken or the reader was destroyed, so no more is wanted.
   */
  async write(chunk: Uint8Array): Promise<'more' | 'enough'> {
    if (this.#done || chunk.length === 0) return this.#done ? 'enough' : 'more';
    this.#hasInput = true;
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    // Without a coding there is nothing to wait for.
    if (this.#decoders.length === 0) return this.#store(piece) ? 'more' : 'enough';
    return (await this.#entry(piece)) && !this.#done ? 'more' : 'enough';
  }

  /** Returns what was read. Incomplete compressed data is a decodeError; an empty body is not. */
  async end(): Promise<ReadBody> {
    if (this.#hasInput) {
      for (const decoder of this.#decoders) {
        if (this.#done || !(await decoder.end())) break;
      }
    }
    this.destroy();
    return {
      bytes: this.#kept.subarray(0, this.#keptBytes),
      totalBytes: this.#totalBytes,
      truncated: this.#truncated,
      lackedMemory: this.#lackedMemory,
      decodeError: this.#decodeError,
    };
  }

  /** Frees the decoders; a write in progress ends with `enough`. May be called at any time. */
  destroy(): void {
    this.#destroyed = true;
    for (const decoder of this.#decoders) decoder.destroy();
  }

  get #done(): boolean {
    return this.#destroyed || this.#truncated || this.#decodeError !== null;
  }

  #fail(problem: string): void {
    const { contentEncoding, scrub = NOT_SCRUBBED } = this.#options;
    const coding = contentEncoding ?? '';
    this.#decodeError ??= `The body is not valid ${shortenedText(coding, MAX_CODING_CHARS, scrub)}: ${problem}`;
  }

  /** The input of each decoder is limited like a body: it must not grow between two codings. */
  #limited(decoder: Decoder): Sink {
    let bytes = 0;
    return async (piece) => {
      if (this.#done) return false;
      bytes += piece.length;
      if (bytes <= this.#options.maxBytes) return await decoder.write(piece);
      this.#truncated = true;
      return false;
    };
  }

  #store(piece: Buffer): boolean {
    if (this.#done) return false;
    const remaining = this.#options.maxBytes - this.#totalBytes;
    this.#truncated = piece.length > remaining;
    const fitting = this.#truncated ? piece.subarray(0, remaining) : piece;
    this.#totalBytes += fitting.length;
    this.#keep(fitting.subarray(0, this.#keepBytes - this.#keptBytes));
    return !this.#truncated;
  }

  /** Copies: otherwise a body sent byte by byte would cost a buffer object for each byte. */
  #keep(piece: Buffer): void {
    const needed = this.#keptBytes + piece.length;
    if (needed > this.#kept.length) {
      const capacity = Math.min(this.#keepBytes, Math.max(needed, this.#kept.length * 2));
      const ownBytes = this.#ownBytes;
      const { memory } = this.#options;
      if (capacity > ownBytes && memory?.shared.take(capacity - ownBytes, memory.use) === false) {
        this.#lackedMemory = true;
        this.#keepBytes = ownBytes;
        this.#keep(piece.subarray(0, ownBytes - this.#keptBytes));
        return;
      }
      const grown = Buffer.allocUnsafeSlow(capacity);
      this.#kept.copy(grown, 0, 0, this.#keptBytes);
      this.#kept = grown;
    }
    piece.copy(this.#kept, this.#keptBytes);
    this.#keptBytes = needed;
  }

  /** Capacity that needs no more shared memory. */
  get #ownBytes(): number {
    return Math.max(this.#kept.length, this.#options.memory?.ownBytes ?? 0);
  }
}
