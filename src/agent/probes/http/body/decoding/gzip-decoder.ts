import { crc32, createInflateRaw } from 'node:zlib';
import type { Decoder, DecoderOptions } from './decoder.ts';
import { gzipHeaderBytes } from './gzip-header.ts';
import { ZlibRun } from './zlib-run.ts';

/** Real members hold tens of kilobytes; thousands of empty ones are there to burn time. */
const MAX_MEMBERS = 1024;
const TRAILER_BYTES = 8;
const NOTHING = Buffer.alloc(0);

/**
 * | state    | holds                     | leaves when                                        |
 * |----------|---------------------------|----------------------------------------------------|
 * | header   | the header's start        | it is whole: data; no gzip after a member: ignored |
 * | data     | an inflating stream       | the compressed data ends: trailer                  |
 * | trailer  | up to eight bytes         | checksum and size fit: header                      |
 * | ignored  | nothing                   | never                                              |
 */
type State = 'header' | 'data' | 'trailer' | 'ignored';

/**
 * gzip (RFC 1952). Members in a row are one text. What follows a whole member without being
 * another is ignored, as browsers do; Node's own stream would fail and withhold good data.
 */
export class GzipDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #state: State = 'header';
  #held: Buffer = NOTHING;
  #run: ZlibRun | null = null;
  #members = 0;
  #crc = 0;
  #size = 0;

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  async write(piece: Buffer): Promise<boolean> {
    let rest: Buffer | null = piece;
    while (rest !== null && rest.length > 0 && this.#state !== 'ignored') {
      switch (this.#state) {
        case 'header':
          rest = this.#header(rest);
          break;
        case 'data':
          rest = await this.#data(rest);
          break;
        case 'trailer':
          rest = this.#trailer(rest);
          break;
      }
    }
    return rest !== null;
  }

  async end(): Promise<boolean> {
    const whole = this.#state === 'ignored' || (this.#state === 'header' && this.#members > 0);
    return whole || this.#fail('it ends too early');
  }

  destroy(): void {
    this.#run?.destroy();
    this.#run = null;
  }

  #header(piece: Buffer): Buffer | null {
    const held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    this.#held = NOTHING;
    const bytes = gzipHeaderBytes(held);
    if (bytes === 'incomplete') {
      this.#held = Buffer.from(held);
      return NOTHING;
    }
    if (bytes === 'invalid') {
      this.#state = 'ignored';
      return this.#members > 0 || this.#fail('it does not start with a gzip header')
        ? NOTHING
        : null;
    }
    if (this.#members === MAX_MEMBERS) {
      this.#fail(`it has more than ${MAX_MEMBERS} members`);
      return null;
    }
    this.#crc = 0;
    this.#size = 0;
    this.#run = new ZlibRun(createInflateRaw(), {
      fail: this.#options.fail,
      sink: (output) => {
        this.#crc = crc32(output, this.#crc);
        this.#size = (this.#size + output.length) >>> 0;
        return this.#options.sink(output);
      },
    });
    this.#state = 'data';
    return held.subarray(bytes);
  }

  async #data(piece: Buffer): Promise<Buffer | null> {
    const taken = (await this.#run?.write(piece)) ?? null;
    if (taken === null) return null;
    if (taken < piece.length) {
      this.destroy();
      this.#state = 'trailer';
    }
    return piece.subarray(taken);
  }

  #trailer(piece: Buffer): Buffer | null {
    const held = Buffer.concat([this.#held, piece.subarray(0, TRAILER_BYTES)]);
    if (held.length < TRAILER_BYTES) {
      this.#held = held;
      return NOTHING;
    }
    const used = TRAILER_BYTES - this.#held.length;
    this.#held = NOTHING;
    if (held.readUInt32LE(0) !== this.#crc || held.readUInt32LE(4) !== this.#size) {
      this.#fail('its checksum does not fit its content');
      return null;
    }
    this.#members += 1;
    this.#state = 'header';
    return piece.subarray(used);
  }

  #fail(problem: string): false {
    this.#state = 'ignored';
    this.#options.fail(problem);
    return false;
  }
}
