import * as zlib from 'node:zlib';
import type { Decoder, DecoderOptions } from './decoder.ts';
import { GzipDecoder } from './gzip-decoder.ts';
import { DeflateDecoder, StreamDecoder } from './stream-decoder.ts';
import type { ZlibStream } from './zlib-run.ts';

export type MakeDecoder = (options: DecoderOptions) => Decoder;

/** RFC 9659: HTTP uses no zstd window over 8 MiB, which would cost as much memory per body. */
const ZSTD_MAX_WINDOW_LOG = 23;
/** RFC 8878 3.1.1: each frame begins with it. */
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;

/** Parts of newer Node versions that the types of the oldest supported version lack. */
interface ZstdParts {
  readonly createZstdDecompress?: (options: { params: Record<number, number> }) => ZlibStream;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
}

const makeGzip: MakeDecoder = (options) => new GzipDecoder(options);
const makeDeflate: MakeDecoder = (options) => new DeflateDecoder(options);
const makeBrotli: MakeDecoder = (options) =>
  new StreamDecoder(() => zlib.createBrotliDecompress(), null, options);

function zstdMaker(): MakeDecoder | null {
  const { createZstdDecompress, constants } = zlib as ZstdParts;
  const windowLogMax = constants.ZSTD_d_windowLogMax;
  if (createZstdDecompress === undefined || windowLogMax === undefined) return null;
  const create = (): ZlibStream =>
    createZstdDecompress({ params: { [windowLogMax]: ZSTD_MAX_WINDOW_LOG } });
  return (options) => new StreamDecoder(create, ZSTD_MAGIC, options);
}

const makeZstd = zstdMaker();

const MAKERS: ReadonlyMap<string, MakeDecoder> = new Map([
  ['gzip', makeGzip],
  ['x-gzip', makeGzip],
  ['deflate', makeDeflate],
  ['br', makeBrotli],
  ...(makeZstd === null ? [] : [['zstd', makeZstd] as const]),
]);

/** For Accept-Encoding; with zstd if this Node version has it. */
export const SUPPORTED_CODINGS: readonly string[] = [...MAKERS.keys()].filter(
  (name) => name !== 'x-gzip',
);

/** Longer chains only serve to turn a small body into much work. */
export const MAX_CODINGS = 4;

/**
 * The decoders for a Content-Encoding, in the order in which they are applied. Empty without a
 * coding, and if one is unknown, which leaves the body as it is.
 */
export function decodersFor(contentEncoding: string | null): readonly MakeDecoder[] | 'too-many' {
  const names = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_CODINGS) return 'too-many';
  const makers = names.reverse().map((name) => MAKERS.get(name));
  const known = makers.filter((maker) => maker !== undefined);
  return known.length === makers.length ? known : [];
}
