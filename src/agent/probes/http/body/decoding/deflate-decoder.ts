import { createInflate, createInflateRaw } from 'node:zlib';
import type { Decoder, DecoderOptions } from './decoder.ts';
import { StreamDecoder } from './stream-decoder.ts';

/**
 * `deflate` means the zlib format (RFC 9110 8.4.1.2), and some servers send the bare deflate
 * data all the same. The two first bytes tell them apart: RFC 1950 2.2 makes them a check.
 */
export class DeflateDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #held: Buffer = Buffer.alloc(0);
  #inner: StreamDecoder | null = null;

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  async write(piece: Buffer): Promise<boolean> {
    if (this.#inner !== null) return await this.#inner.write(piece);
    this.#held = Buffer.concat([this.#held, piece]);
    return this.#held.length < 2 || (await this.#start().write(this.#held));
  }

  async end(): Promise<boolean> {
    if (this.#inner !== null) return await this.#inner.end();
    const inner = this.#start();
    return (await inner.write(this.#held)) && (await inner.end());
  }

  destroy(): void {
    this.#inner?.destroy();
  }

  #start(): StreamDecoder {
    const [first = 0, second = 0] = this.#held;
    const hasZlibHeader = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
    const create = hasZlibHeader ? createInflate : createInflateRaw;
    this.#inner = new StreamDecoder(() => create(), null, this.#options);
    return this.#inner;
  }
}
