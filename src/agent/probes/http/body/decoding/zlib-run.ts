import type { Transform } from 'node:stream';
import { messageOf } from '../../../../../runtime/errors.ts';
import type { DecoderOptions } from './decoder.ts';

/** Any stream of node:zlib: they count the bytes that the library consumed. */
export type ZlibStream = Transform & { readonly bytesWritten: number };

/**
 * Drives one zlib stream: finds the exact byte at which the compressed data ends, and reads output
 * only as fast as the sink accepts it.
 */
export class ZlibRun {
  readonly #stream: ZlibStream;
  readonly #options: DecoderOptions;
  #failed: boolean = false;
  #ended: boolean = false;
  #closed: boolean = false;
  #wake: (() => void) | null = null;

  constructor(stream: ZlibStream, options: DecoderOptions) {
    this.#stream = stream;
    this.#options = options;
    const wake = (): void => this.#wake?.();
    stream.on('readable', wake);
    stream.on('end', () => {
      this.#ended = true;
      wake();
    });
    stream.on('error', (error) => {
      this.#failed = true;
      options.fail(messageOf(error));
      wake();
    });
    stream.on('close', () => {
      this.#closed = true;
      wake();
    });
  }

  /**
   * @returns the consumed bytes, fewer than the piece has if the compressed data ended in it; null
   *   if the sink has enough or the data is broken
   */
  async write(piece: Buffer): Promise<number | null> {
    if (this.#closed || this.#failed) return null;
    const before = this.#stream.bytesWritten;
    let taken = false;
    this.#stream.write(piece, () => {
      taken = true;
      this.#wake?.();
    });
    return (await this.#drainUntil(() => taken)) ? this.#stream.bytesWritten - before : null;
  }

  /** Flushes; data that ends too early is broken. */
  async end(): Promise<boolean> {
    if (this.#closed || this.#failed) return false;
    this.#stream.end();
    return await this.#drainUntil(() => this.#ended);
  }

  destroy(): void {
    this.#stream.destroy();
    this.#closed = true;
    this.#wake?.();
  }

  async #drainUntil(done: () => boolean): Promise<boolean> {
    for (;;) {
      for (let piece = this.#read(); piece !== null; piece = this.#read()) {
        if (!(await this.#options.sink(piece))) return false;
      }
      if (this.#failed) return false;
      if (done()) return true;
      if (this.#closed) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  #read(): Buffer | null {
    return this.#stream.read() as Buffer | null;
  }
}
