import * as zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  BodyReader,
  type ReadBody,
} from '../../../../../../src/agent/probes/http/body/body-reader.ts';

const MIB = 1024 * 1024;
const TEXT = Buffer.from('Ein Wächter steht vor dem Tor. '.repeat(5000));
const GARBAGE = Buffer.from('<!-- served by web-7 -->');

const zstdCompress = (zlib as { zstdCompressSync?: (data: Buffer) => Buffer }).zstdCompressSync;

const CODINGS: readonly (readonly [string, (data: Buffer) => Buffer])[] = [
  ['gzip', (data) => zlib.gzipSync(data)],
  ['x-gzip', (data) => zlib.gzipSync(data)],
  ['GZip', (data) => zlib.gzipSync(data)],
  ['deflate', (data) => zlib.deflateSync(data)],
  ['deflate', (data) => zlib.deflateRawSync(data)],
  ['br', (data) => zlib.brotliCompressSync(data)],
  ['gzip, br', (data) => zlib.brotliCompressSync(zlib.gzipSync(data))],
  ['br , identity,deflate, gzip', (data) => allThree(data)],
  ['identity', (data) => data],
  ['', (data) => data],
  ...(zstdCompress === undefined ? [] : [['zstd', zstdCompress] as const]),
];

function allThree(data: Buffer): Buffer {
  return zlib.gzipSync(zlib.deflateSync(zlib.brotliCompressSync(data)));
}

interface Limits {
  readonly maxBytes?: number;
  readonly keepBytes?: number;
  readonly pieceBytes?: number;
}

async function read(contentEncoding: string | null, data: Buffer, limits: Limits = {}) {
  const { maxBytes = 25 * MIB, keepBytes = maxBytes, pieceBytes = data.length } = limits;
  const reader = new BodyReader({ contentEncoding, maxBytes, keepBytes });
  let taken = 0;
  for (let at = 0; at < data.length; at += pieceBytes) {
    taken += 1;
    if ((await reader.write(data.subarray(at, at + pieceBytes))) === 'enough') break;
  }
  return { ...(await reader.end()), taken };
}

function expectWhole(body: ReadBody, text: Buffer): void {
  expect(body.decodeError).toBeNull();
  expect(body.bytes.equals(text)).toBe(true);
  expect(body).toMatchObject({ totalBytes: text.length, truncated: false });
}

describe('content codings', () => {
  test.each(CODINGS)('%s is decoded, in one piece and in small ones', async (name, encode) => {
    const encoded = encode(TEXT);
    expectWhole(await read(name, encoded), TEXT);
    expectWhole(await read(name, encoded, { pieceBytes: 7 }), TEXT);
    expectWhole(await read(name, encoded, { pieceBytes: 1000 }), TEXT);
  });

  test.each(CODINGS)('%s of an empty body, and of no bytes, is empty', async (name, encode) => {
    expectWhole(await read(name, encode(Buffer.alloc(0)), { pieceBytes: 1 }), Buffer.alloc(0));
    expectWhole(await read(name, Buffer.alloc(0)), Buffer.alloc(0));
  });

  test('an unknown coding leaves the body as it is, also among known ones', async () => {
    const packed = zlib.gzipSync(TEXT);
    expectWhole(await read('compress', TEXT), TEXT);
    expectWhole(await read('gzip, compress', packed), packed);
    expectWhole(await read('compress, gzip', packed), packed);
  });

  test('more than four in a row are refused', async () => {
    const body = await read('gzip,gzip,gzip,gzip,gzip', zlib.gzipSync(TEXT));
    expect(body.decodeError).toContain('more than 4 codings');
    expect(body.taken).toBe(1);
  });
});

describe('gzip members', () => {
  const member = zlib.gzipSync(TEXT);

  test.each([1, 5, member.length, 100_000])(
    'two in a row are one text (%i)',
    async (pieceBytes) => {
      const body = await read('gzip', Buffer.concat([member, member]), { pieceBytes });
      expectWhole(body, Buffer.concat([TEXT, TEXT]));
    },
  );

  test.each([
    ['a comment', GARBAGE],
    ['zeros', Buffer.alloc(64)],
    ['one byte', Buffer.from([0x1f])],
    ['the start of a gzip header', Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
    ['almost a gzip header', Buffer.from([0x1f, 0x8b, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8])],
  ])('%s after the last member is ignored', async (_name, trailing) => {
    const data = Buffer.concat([member, trailing]);
    for (const pieceBytes of [1, 3, member.length, data.length]) {
      expectWhole(await read('gzip', data, { pieceBytes }), TEXT);
    }
  });

  test('header fields are skipped', async () => {
    const plain = zlib.gzipSync(TEXT);
    const extra = Buffer.from([3, 0, 7, 8, 9]);
    const header = Buffer.from(plain.subarray(0, 10));
    header[3] = 0x1e;
    const named = Buffer.from('name.txt\0a comment\0');
    const crc = Buffer.from([0, 0]);
    const data = Buffer.concat([header, extra, named, crc, plain.subarray(10)]);
    expectWhole(await read('gzip', data), TEXT);
    expectWhole(await read('gzip', data, { pieceBytes: 1 }), TEXT);
  });

  test('an endless file name in the header is broken data, not endless waiting', async () => {
    const header = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]);
    const data = Buffer.concat([header, Buffer.alloc(MIB, 'a')]);
    const body = await read('gzip', data, { pieceBytes: 1000 });
    expect(body.decodeError).toContain('gzip');
    expect(body.taken).toBeLessThan(20);
  });

  test('thousands of empty members are refused', async () => {
    const empty = zlib.gzipSync(Buffer.alloc(0));
    const body = await read('gzip', Buffer.concat(Array.from({ length: 3000 }, () => empty)));
    expect(body.decodeError).toContain('members');
  });

  test('a checksum or size that does not fit is broken data', async () => {
    for (const at of [-8, -1]) {
      const data = Buffer.from(member);
      const index = data.length + at;
      data[index] = (data[index] ?? 0) ^ 1;
      const body = await read('gzip', data);
      expect(body.decodeError).toContain('checksum');
    }
  });
});

test.each(['deflate', 'br'])('bytes after the end of %s are ignored', async (name) => {
  const packed = name === 'br' ? zlib.brotliCompressSync(TEXT) : zlib.deflateSync(TEXT);
  const data = Buffer.concat([packed, GARBAGE]);
  for (const pieceBytes of [1, packed.length, data.length]) {
    expectWhole(await read(name, data, { pieceBytes }), TEXT);
  }
});

describe('broken data', () => {
  test.each(CODINGS.filter(([, encode]) => encode(TEXT).length < TEXT.length))(
    '%s cut short is a decode error that keeps what was read',
    async (name, encode) => {
      const encoded = encode(TEXT);
      for (const length of [1, 5, encoded.length >> 1, encoded.length - 1]) {
        const body = await read(name, encoded.subarray(0, length), { pieceBytes: 9 });
        expect(body.decodeError).toContain('The body is not valid');
        expect(body.decodeError).toContain(name);
        expect(TEXT.subarray(0, body.bytes.length).equals(body.bytes)).toBe(true);
        expect(body.truncated).toBe(false);
      }
    },
  );

  test.each(['gzip', 'deflate', 'br'])('plain text labelled %s is a decode error', async (name) => {
    const body = await read(name, TEXT, { pieceBytes: 1000 });
    expect(body.decodeError).not.toBeNull();
    expect(body.taken).toBeLessThan(TEXT.length / 1000);
  });
});

describe('limits', () => {
  test('exactly the limit is whole, one byte more is truncated', async () => {
    const data = Buffer.alloc(5000, 'x');
    expectWhole(await read(null, data, { maxBytes: 5000 }), data);
    expectWhole(await read('gzip', zlib.gzipSync(data), { maxBytes: 5000 }), data);
    for (const coding of ['', 'gzip', 'br']) {
      const encoded =
        coding === ''
          ? data
          : coding === 'br'
            ? zlib.brotliCompressSync(data)
            : zlib.gzipSync(data);
      const body = await read(coding, encoded, { maxBytes: 4999 });
      expect(body).toMatchObject({ totalBytes: 4999, truncated: true, decodeError: null });
      expect(body.bytes.equals(data.subarray(0, 4999))).toBe(true);
    }
  });

  test('keeps the start and counts the whole', async () => {
    for (const pieceBytes of [3, 100, TEXT.length]) {
      const body = await read(null, TEXT, { keepBytes: 1000, pieceBytes });
      expect(body.bytes.equals(TEXT.subarray(0, 1000))).toBe(true);
      expect(body).toMatchObject({ totalBytes: TEXT.length, truncated: false });
    }
  });

  test.each(['gzip', 'br', 'gzip, gzip'])('a bomb of %s stops at the limit', async (name) => {
    const zeros = Buffer.alloc(64 * MIB);
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 };
    const packed =
      name === 'br' ? zlib.brotliCompressSync(zeros, { params }) : zlib.gzipSync(zeros);
    const bomb = name === 'gzip, gzip' ? zlib.gzipSync(packed) : packed;
    const body = await read(name, bomb, { maxBytes: MIB, keepBytes: 1000 });
    expect(body).toMatchObject({ totalBytes: MIB, truncated: true, decodeError: null });
    expect(body.bytes.length).toBe(1000);
  });

  test('a large piece is inflated in small parts', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(64 * MIB));
    const before = process.memoryUsage().arrayBuffers;
    let highest = 0;
    const timer = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const body = await read('gzip', bomb, { maxBytes: 100 * MIB, keepBytes: 1000 });
    clearInterval(timer);
    expect(body).toMatchObject({ totalBytes: 64 * MIB, truncated: false });

    expect(highest).toBeLessThan(32 * MIB);
  });

  test('a body of single bytes costs no object for each of them', async () => {
    const body = await read(null, TEXT, { pieceBytes: 1 });
    expectWhole(body, TEXT);
    expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * TEXT.length);
  });

  test('the data between two codings is limited as well', async () => {
    // The outer layer inflates to much data that yields nothing in the inner one.
    const named = Buffer.concat([zlib.gzipSync(TEXT), Buffer.alloc(4 * MIB)]);
    const body = await read('gzip, gzip', zlib.gzipSync(named), { maxBytes: MIB });
    expect(body.truncated).toBe(true);
    expect(body.bytes.equals(TEXT)).toBe(true);
  });
});

describe('ending early', () => {
  test('destroy ends a waiting write', async () => {
    const reader = new BodyReader({
      contentEncoding: 'gzip',
      maxBytes: 100 * MIB,
      keepBytes: 1000,
    });
    const writing = reader.write(zlib.gzipSync(Buffer.alloc(16 * MIB)));
    reader.destroy();
    reader.destroy();
    expect(await writing).toBe('enough');
    expect(await reader.write(TEXT)).toBe('enough');
    expect((await reader.end()).truncated).toBe(false);
  });

  test('no more bytes are requested after the limit', async () => {
    const reader = new BodyReader({ contentEncoding: null, maxBytes: 10, keepBytes: 10 });
    expect(await reader.write(Buffer.alloc(10))).toBe('more');
    expect(await reader.write(Buffer.alloc(1))).toBe('enough');
    expect(await reader.write(Buffer.alloc(1))).toBe('enough');
    expect(await reader.end()).toMatchObject({ totalBytes: 10, truncated: true });
  });
});
