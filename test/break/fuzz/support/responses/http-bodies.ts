import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { mutated, randomBytes } from './bytes.ts';

/** A body in wire format, and its Content-Encoding. */
export interface CodedBody {
  /** Empty for no header. */
  readonly coding: string;
  readonly bytes: Buffer;
  /** Its decoded form, if it is valid. */
  readonly plain: Buffer | null;
}

const TEXT = Buffer.from('{"status":"ok","text":"Ein Wächter steht vor dem Tor."}\n'.repeat(20));
const PLAINS: readonly Buffer[] = [
  Buffer.alloc(0),
  Buffer.from('x'),
  TEXT,
  Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x62, 0]),
  Buffer.from('\ufeffmarked', 'utf16le'),
  Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) & 0xff)),
  Buffer.alloc(20_000, 'y'),
];

const { BROTLI_PARAM_QUALITY } = zlib.constants;
const brotli = (data: Buffer): Buffer =>
  zlib.brotliCompressSync(data, { params: { [BROTLI_PARAM_QUALITY]: 1 } });
/** Newer Node versions have it. */
const { zstdCompressSync: zstd } = zlib as { zstdCompressSync?: (data: Buffer) => Buffer };

type Encode = (data: Buffer) => Buffer;
const CODINGS: readonly (readonly [string, Encode])[] = [
  ['gzip', (data) => zlib.gzipSync(data, { level: 1 })],
  ['x-gzip', (data) => zlib.gzipSync(data, { level: 0 })],
  ['deflate', (data) => zlib.deflateSync(data, { level: 1 })],
  ['deflate', (data) => zlib.deflateRawSync(data, { level: 1 })],
  ['br', brotli],
  ['gzip, br', (data) => brotli(zlib.gzipSync(data, { level: 1 }))],
  ['deflate, identity, gzip', (data) => zlib.gzipSync(zlib.deflateSync(data), { level: 1 })],
  ...(zstd === undefined ? [] : [['zstd', zstd] as const]),
];

/** Encoded once, because compressing takes most of a fuzzer's time. */
const HONEST: readonly CodedBody[] = PLAINS.flatMap((plain) => [
  { coding: '', bytes: plain, plain },
  ...CODINGS.map(([coding, encode]): CodedBody => ({ coding, bytes: encode(plain), plain })),
]);

const MIB = 1024 * 1024;
/** More than the limit of a body, from a few kilobytes. */
const BOMBS: readonly CodedBody[] = [
  ['gzip', zlib.gzipSync(Buffer.alloc(26 * MIB))] as const,
  ['br', brotli(Buffer.alloc(26 * MIB))] as const,
  ['gzip, gzip', zlib.gzipSync(zlib.gzipSync(Buffer.alloc(26 * MIB)))] as const,
  [
    'deflate, deflate, deflate, deflate',
    [1, 2, 3, 4].reduce((data) => zlib.deflateSync(data), Buffer.alloc(26 * MIB)),
  ] as const,
  ['gzip', Buffer.concat(new Array<Buffer>(3000).fill(zlib.gzipSync('')))] as const,
].map(([coding, bytes]) => ({ coding, bytes, plain: null }));

const honest = fc.constantFrom(...HONEST);
const anyCoding = fc.constantFrom(
  ...[
    'gzip',
    'deflate',
    'br',
    'GZIP',
    'gzip,',
    ', ,',
    'identity',
    'compress',
    'zstd',
    'gzip, compress',
  ],
  ...['gzip,gzip', 'br,br,br,br', 'gzip,gzip,gzip,gzip,gzip', 'x'.repeat(300), '\u00ff'],
);
const changed = honest.chain(({ coding, bytes }) =>
  mutated(fc.constant(bytes), 3).map((wrong): CodedBody => ({ coding, bytes: wrong, plain: null })),
);
const mislabelled = fc
  .tuple(
    anyCoding,
    fc.oneof(
      honest.map(({ bytes }) => bytes),
      randomBytes(60),
    ),
  )
  .map(([coding, bytes]): CodedBody => ({ coding, bytes, plain: null }));
const bomb = fc.constantFrom(...BOMBS);

export const honestBody = honest;
export const bombBodies = BOMBS;
/** Mostly invalid; a bomb once in some hundred. */
export const anyBody = fc.oneof(
  { weight: 80, arbitrary: honest },
  { weight: 80, arbitrary: changed },
  { weight: 40, arbitrary: mislabelled },
  { weight: 1, arbitrary: bomb },
);
/** The same without slow ones. */
export const lightBody = fc.oneof(
  { weight: 3, arbitrary: honest.filter(({ bytes }) => bytes.length < 4000) },
  { weight: 3, arbitrary: changed },
  { weight: 1, arbitrary: mislabelled },
);

export const contentTypes = fc.constantFrom(
  ...[
    'text/plain',
    'application/json',
    'text/html; charset=utf-8',
    'text/html; charset=ISO-8859-1',
  ],
  ...[
    'text/plain; charset=utf-16le',
    'text/plain; charset="shift_jis"',
    'text/plain; charset=nope',
  ],
  ...[
    "text/plain; charset='",
    'text/plain;charset=iso-2022-jp',
    'image/png',
    '',
    ';;;',
    'x'.repeat(500),
  ],
);
