import type { Decoder, DecoderOptions } from './decoder.ts';
import { ZlibRun, type ZlibStream } from './zlib-run.ts';

const MAX_FRAMES = 1024;

/** A coding that one of node:zlib's streams undoes by itself: br and zstd. */
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

  /** A frame ended inside the piece; what follows is another one, or not ours to read. */
  #nextFrame(rest: Buffer): boolean {
    const isFrame = this.#magic?.every((byte, at) => rest[at] === byte) ?? false;
    if (!isFrame || this.#frames === MAX_FRAMES) return false;
    this.#frames += 1;
    this.#run.destroy();
    this.#run = new ZlibRun(this.#create(), this.#options);
    return true;
  }
}
