import { getEventListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../../../src/runtime/clock.ts';
import { createPictureDecoder } from '../../../../../src/service/status-pages/pictures/decode-picture.ts';
import type { PictureFormat } from '../../../../../src/service/status-pages/pictures/picture-format.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { bitmap, icon } from '../../../../support/samples/icons.ts';

/** Compiled: older versions of Node run no TypeScript. */
const WORKER = new URL(
  '../../../../../dist/service/status-pages/pictures/picture-worker.js',
  import.meta.url,
);
const NEVER = new AbortController().signal;
const folder = makeTempFolder();
afterAll(() => folder.remove());

function decode(format: PictureFormat, file: Buffer, limits = {}) {
  const decoder = createPictureDecoder(new FakeClock(), WORKER);
  return decoder.decode({ format, maxWidth: 64, maxHeight: 64, ...limits }, file, NEVER);
}

async function decoded(format: PictureFormat, file: Buffer, limits = {}) {
  const outcome = await decode(format, file, limits);
  if (!outcome.ok) throw new Error(outcome.problem);
  return outcome.picture;
}

function red(width: number, height: number) {
  return sharp({
    create: { width, height, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 1 } },
  });
}

/** A PNG file of these chunks, with correct checksums. */
function pngOf(...chunks: readonly (readonly [string, Buffer])[]): Buffer {
  const parts = chunks.map(([name, data]) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  });
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]);
}

/** PNG 11.2.1: RGBA, not interlaced. */
function headerOf(width: number, height: number, bitDepth = 8): readonly [string, Buffer] {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.writeUInt8(bitDepth, 8);
  data.writeUInt8(6, 9);
  return ['IHDR', data];
}

describe('a decoder that cannot be started', () => {
  it('is a failure that is tried again, and leaves nothing at the signal of the service', async () => {
    const stopping = new AbortController();
    const clock = new FakeClock();
    const decoder = createPictureDecoder(clock, WORKER);
    const job = { format: 'png', maxWidth: 64, maxHeight: 64 } as const;
    const { execPath } = process;
    onTestFinished(() => {
      process.execPath = execPath;
    });
    process.execPath = folder.file('no-such-program');
    const outcome = await decoder.decode(job, Buffer.from('x'), stopping.signal);
    expect(outcome).toMatchObject({ ok: false, isFinal: false });
    expect(outcome).toHaveProperty(
      'problem',
      expect.stringMatching(/could not be started: .*ENOENT/),
    );
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
  });
});

describe('a picture of a status page', () => {
  it.each(['png', 'jpeg', 'gif', 'webp'] as const)(
    'is made anew from a %s file',
    async (format) => {
      const { bytes, ...picture } = await decoded(format, await red(32, 16)[format]().toBuffer());
      expect(picture).toEqual({ type: 'image/png', width: 32, height: 16 });
      expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 32, height: 16 });
      const { data } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
      expect(data[0]).toBeGreaterThan(250);
    },
  );

  it('is made from the largest image of an icon, a PNG file or a bitmap', async () => {
    const png = await red(32, 32).png().toBuffer();
    const small = { width: 1, height: 1, bits: 32, data: bitmap(1, 1, 32, [255, 0, 0, 255]) };
    const large = { width: 32, height: 32, bits: 32, data: png };
    expect(await decoded('ico', icon([small, large]))).toMatchObject({ width: 32, height: 32 });
    const { bytes } = await decoded('ico', icon([small]));
    expect([...(await sharp(bytes).raw().toBuffer())]).toEqual([0, 0, 255, 255]);
  });

  it('is made smaller to fit, in proportion, and never larger', async () => {
    const wide = await red(1000, 100).png().toBuffer();
    expect(await decoded('png', wide)).toMatchObject({ width: 64, height: 6 });
    expect(await decoded('png', wide, { maxWidth: 5000, maxHeight: 5000 })).toMatchObject({
      width: 1000,
      height: 100,
    });
  });

  it('keeps no metadata, such as where a photograph was taken, and is upright', async () => {
    const file = await red(32, 16)
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { bytes, width, height } = await decoded('jpeg', file);
    expect([width, height]).toEqual([16, 32]);
    expect(await sharp(bytes).metadata()).not.toHaveProperty('exif');
  });

  it('contains nothing of what a file has beside the picture', async () => {
    const script = '<script>alert(1)</script>';
    const png = await red(4, 4).png().toBuffer();
    const polyglot = Buffer.concat([png, Buffer.from(script)]);
    expect((await decoded('png', polyglot)).bytes.includes(script)).toBe(false);
    const text: readonly [string, Buffer] = ['tEXt', Buffer.from(`Comment\0${script}`)];
    const rows: readonly [string, Buffer] = ['IDAT', deflateSync(Buffer.alloc(5))];
    const commented = pngOf(headerOf(1, 1), text, rows, ['IEND', Buffer.alloc(0)]);
    expect(commented.includes(script)).toBe(true);
    expect((await decoded('png', commented)).bytes.includes(script)).toBe(false);
  });

  it('becomes a WebP file where a PNG file would be large', async () => {
    const noise = await sharp({
      create: {
        width: 400,
        height: 300,
        channels: 3,
        background: 'black',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    })
      .jpeg()
      .toBuffer();
    const { type, bytes } = await decoded('jpeg', noise, { maxWidth: 800, maxHeight: 320 });
    expect(type).toBe('image/webp');
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 400 });
  });
});

describe('a hostile picture', () => {
  it.each([
    [100_000, 100_000],
    [8193, 1],
    [8192, 1025],
    [0x7fffffff, 1],
  ])('of %i × %i pixels is refused before it is decoded', async (width, height) => {
    const rows: readonly [string, Buffer] = ['IDAT', deflateSync(Buffer.alloc(1000))];
    const file = pngOf(headerOf(width, height), rows, ['IEND', Buffer.alloc(0)]);
    expect(await decode('png', file)).toEqual({
      ok: false,
      isFinal: true,
      problem: expect.stringMatching(/pixels: it must have at most 8192 in each|damaged/),
    });
  });

  it('that is a bomb within the limits of pixels is decoded', async () => {
    const [width, height] = [8192, 1024];
    const rows = deflateSync(Buffer.alloc((width * 8 + 1) * height), { level: 9 });
    expect(rows.length).toBeLessThan(100_000);
    const file = pngOf(headerOf(width, height, 16), ['IDAT', rows], ['IEND', Buffer.alloc(0)]);
    expect(await decoded('png', file)).toMatchObject({ width: 64, height: 8 });
  });

  it('whose metadata unpack to much is decoded or refused', async () => {
    const profile = Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(200_000_000))]);
    const rows: readonly [string, Buffer] = ['IDAT', deflateSync(Buffer.alloc(5))];
    const file = pngOf(headerOf(1, 1), ['iCCP', profile], ['zTXt', profile], rows, [
      'IEND',
      Buffer.alloc(0),
    ]);
    const outcome = await decode('png', file);
    expect(outcome.ok ? outcome.picture.width : outcome.problem).toSatisfy(
      (found) => found === 1 || found === 'the picture is damaged or incomplete',
    );
  });

  it.each(['png', 'jpeg', 'gif', 'webp'] as const)(
    '%s that is truncated is refused',
    async (format) => {
      const file = await sharp({
        create: {
          width: 300,
          height: 300,
          channels: 3,
          background: 'black',
          noise: { type: 'gaussian', mean: 128, sigma: 60 },
        },
      })
        [format]()
        .toBuffer();
      expect(await decode(format, file.subarray(0, file.length / 2))).toEqual({
        ok: false,
        isFinal: true,
        problem: 'the picture is damaged or incomplete',
      });
    },
  );

  it('is not decoded as another format than that of its first bytes', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    const tiff = await red(4, 4).tiff().toBuffer();
    for (const file of [svg, tiff]) expect(await decode('png', file)).toMatchObject({ ok: false });
  });
});

describe('a decoder', () => {
  function withWorker(source: string, clock: Clock = new FakeClock()) {
    const file = folder.file(`worker-${source.length}.mjs`);
    writeFileSync(file, source);
    return createPictureDecoder(clock, pathToFileURL(file));
  }
  const job = { format: 'png', maxWidth: 1, maxHeight: 1 } as const;
  const FILE = Buffer.alloc(1_000_000);

  it.each([
    ['crashes', 'process.abort();'],
    ['ends without a reply', ''],
    ['writes nonsense', 'process.stdout.write("nonsense\\n");'],
    [
      'names another type',
      `process.stdout.write('{"ok":true,"type":"text/html","width":1,"height":1}\\n<b>');`,
    ],
    ['writes without end', 'for (;;) process.stdout.write("x".repeat(1e5)); '],
  ])('that %s refuses the picture and nothing else', async (_, source) => {
    expect(await withWorker(source).decode(job, FILE, NEVER)).toMatchObject({
      ok: false,
      isFinal: true,
    });
  });

  it('that hangs is ended after 10 s, and the next picture is decoded', async () => {
    const clock = new FakeClock();
    const decoder = withWorker('setInterval(() => {}, 1e6);', clock);
    const first = decoder.decode(job, FILE, NEVER);
    await eventually(() => clock.pendingTimers > 0);
    await clock.advance(10_000);
    expect(await first).toEqual({
      ok: false,
      isFinal: true,
      problem: 'the picture could not be decoded within 10 s',
    });
    const second = decoder.decode(job, FILE, NEVER);
    await eventually(() => clock.pendingTimers > 0);
    await clock.advance(10_000);
    expect(await second).toMatchObject({ ok: false });
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends when the service stops, and lets the picture be fetched again', async () => {
    const stopping = new AbortController();
    const decoder = withWorker('setInterval(() => {}, 1e7);');
    const waiting = [1, 2].map(() => decoder.decode(job, FILE, stopping.signal));
    stopping.abort();
    for (const each of waiting) expect(await each).toMatchObject({ ok: false, isFinal: false });
  });

  it('has no environment variables of the service', async () => {
    const source = `process.stdout.write(JSON.stringify({ ok: false, problem: Object.keys(process.env).join() }) + '\\n');`;
    expect(await withWorker(source).decode(job, FILE, NEVER)).toMatchObject({ problem: '' });
  });
});
