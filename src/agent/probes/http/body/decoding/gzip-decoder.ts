import { crc32, createInflateRaw } from 'node:zlib';
import type { Decoder, DecoderOptions } from './decoder.ts';
import { ZlibRun } from './zlib-run.ts';

/** Real members have tens of kilobytes; thousands of empty ones only cost CPU time. */
const MAX_MEMBERS = 1024;
const TRAILER_BYTES = 8;
const FIXED_HEADER_BYTES = 10;
const FLAG_CRC = 0x02;
const FLAG_EXTRA = 0x04;
const FLAG_NAME = 0x08;
const FLAG_COMMENT = 0x10;
const RESERVED_FLAGS = 0xe0;

/** Web servers send the ten fixed bytes; the limit keeps an endless file name out of memory. */
const MAX_HEADER_BYTES = 8 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * | state    | stores                    | leaves when                                        |
 * |----------|---------------------------|----------------------------------------------------|
 * | header   | the header's start        | it is whole: data; no gzip after a member: ignored |
 * | data     | an inflating stream       | the compressed data ends: trailer                  |
 * | trailer  | up to eight bytes         | checksum and size fit: header                      |
 * | ignored  | nothing                   | never                                              |
 */
type State = 'header' | 'data' | 'trailer' | 'ignored';

/**
 * gzip (RFC 1952). Joins consecutive members. Ignores other data after a complete member, as
 * browsers do; Node's own stream would fail and withhold valid data.
 */
export class GzipDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #state: State = 'header';
  #pending: Buffer = NOTHING;
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
    const joined = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    this.#pending = NOTHING;
    const bytes = gzipHeaderBytes(joined);
    if (bytes === 'incomplete') {
      this.#pending = Buffer.from(joined);
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
    return joined.subarray(bytes);
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
    const joined = Buffer.concat([this.#pending, piece.subarray(0, TRAILER_BYTES)]);
    if (joined.length < TRAILER_BYTES) {
      this.#pending = joined;
      return NOTHING;
    }
    const used = TRAILER_BYTES - this.#pending.length;
    this.#pending = NOTHING;
    if (joined.readUInt32LE(0) !== this.#crc || joined.readUInt32LE(4) !== this.#size) {
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

/** The length of the member header (RFC 1952 2.3) that the bytes start with. */
function gzipHeaderBytes(bytes: Buffer): number | 'incomplete' | 'invalid' {
  if (!startsWith(bytes, [0x1f, 0x8b, 0x08])) return 'invalid';
  if (bytes.length < FIXED_HEADER_BYTES) return 'incomplete';
  const flags = bytes.readUInt8(3);
  if ((flags & RESERVED_FLAGS) !== 0) return 'invalid';

  let at: number | null = FIXED_HEADER_BYTES;
  if ((flags & FLAG_EXTRA) !== 0) {
    at = at + 2 <= bytes.length ? at + 2 + bytes.readUInt16LE(at) : null;
  }
  if ((flags & FLAG_NAME) !== 0) at = afterZero(bytes, at);
  if ((flags & FLAG_COMMENT) !== 0) at = afterZero(bytes, at);
  if ((flags & FLAG_CRC) !== 0 && at !== null) at += 2;

  if (at !== null && at <= bytes.length && at <= MAX_HEADER_BYTES) return at;
  return bytes.length > MAX_HEADER_BYTES ? 'invalid' : 'incomplete';
}

function afterZero(bytes: Buffer, from: number | null): number | null {
  if (from === null) return null;
  const zero = bytes.indexOf(0, from);
  return zero === -1 ? null : zero + 1;
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return magic.every((expected, at) => at >= bytes.length || bytes[at] === expected);
}
