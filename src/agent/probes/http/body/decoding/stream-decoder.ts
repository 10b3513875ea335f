import { createInflate, createInflateRaw } from 'node:zlib';
import type { Decoder, DecoderOptions } from './decoder.ts';
import { ZlibRun, type ZlibStream } from './zlib-run.ts';

const MAX_FRAMES = 1024;

/** Decodes a coding through a stream of node:zlib: br and zstd. */
export class StreamDecoder implements Decoder {
  readonly #create: () => ZlibStream;
  readonly #magic: readonly number[] | null;
  readonly #options: DecoderOptions;
  #run: ZlibRun;
  #frames = 1;
  #ended: boolean = false;

  /** @param magic how a further frame begins, for codings that allow several in a row */
  constructor(create: () => ZlibStream, magic: readonly number[] | null, options: DecoderOptions) {
    this.#create = create;
    this.#magic = magic;
    this.#options = options;
    this.#run = new ZlibRun(create(), options);
  }

  async write(piece: Buffer): Promise<boolean> {
    let rest = piece;
    while (rest.length > 0 && !this.#ended) {
      const taken = await this.#run.write(rest);
      if (taken === null) return false;
      rest = rest.subarray(taken);
      if (rest.length > 0 && !this.#nextFrame(rest)) this.#ended = true;
    }
    return true;
  }

  async end(): Promise<boolean> {
    return this.#ended || (await this.#run.end());
  }

  destroy(): void {
    this.#run.destroy();
  }

  /** A frame ended inside the piece. Starts the next one; false if the rest is no frame. */
  #nextFrame(rest: Buffer): boolean {
    const isFrame = this.#magic?.every((byte, at) => rest[at] === byte) ?? false;
    if (!isFrame || this.#frames === MAX_FRAMES) return false;
    this.#frames += 1;
    this.#run.destroy();
    this.#run = new ZlibRun(this.#create(), this.#options);
    return true;
  }
}

/**
 * `deflate` means the zlib format (RFC 9110 8.4.1.2), but some servers send raw deflate data. The
 * first two bytes distinguish them: those of the zlib format contain a check (RFC 1950 2.2).
 */
export class DeflateDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #pending: Buffer = Buffer.alloc(0);
  #inner: StreamDecoder | null = null;

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  async write(piece: Buffer): Promise<boolean> {
    if (this.#inner !== null) return await this.#inner.write(piece);
    this.#pending = Buffer.concat([this.#pending, piece]);
    return this.#pending.length < 2 || (await this.#start().write(this.#pending));
  }

  async end(): Promise<boolean> {
    if (this.#inner !== null) return await this.#inner.end();
    const inner = this.#start();
    return (await inner.write(this.#pending)) && (await inner.end());
  }

  destroy(): void {
    this.#inner?.destroy();
  }

  #start(): StreamDecoder {
    const [first = 0, second = 0] = this.#pending;
    const hasZlibHeader = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
    const create = hasZlibHeader ? createInflate : createInflateRaw;
    this.#inner = new StreamDecoder(() => create(), null, this.#options);
    return this.#inner;
  }
}
