import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import sharp, { type Sharp } from 'sharp';
import { largestIcon } from './ico.ts';
import type { Picture } from './picture.ts';
import type { PictureFormat } from './picture-format.ts';

/** The first line on the standard input, as JSON; the bytes of the file follow it. */
export interface PictureJob {
  readonly format: PictureFormat;
  /** The picture is made smaller to fit, never larger. */
  readonly maxWidth: number;
  readonly maxHeight: number;
}

/** The first line on the standard output, as JSON; the bytes of the picture follow it. */
export type PictureReply =
  | ({ readonly ok: true } & Omit<Picture, 'bytes'>)
  | { readonly ok: false; readonly problem: string };

/** An RGBA picture of this size needs 32 MiB, and a decoder up to three times as much. */
const MAX_PIXELS = 8_388_608;
const MAX_SIDE = 8_192;
/** The process ends itself above this limit, since a decoder needs more memory only for a malicious file. */
const MAX_RSS_BYTES = 384 * 1024 * 1024;
const WATCH_EVERY_MS = 10;
/** A larger PNG becomes a lossy WebP. */
const MAX_PNG_BYTES = 128 * 1024;
const WEBP_QUALITY = 85;

/** We check the size in the header ourselves, because libvips's message about its own limit is not helpful. */
const LIMITS = { limitInputPixels: false, failOn: 'error', sequentialRead: true } as const;

// Blocks all other loaders, whatever format libvips detects.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
  ],
});
sharp.cache(false);
sharp.concurrency(1);

if (process.platform === 'linux') {
  // If memory is short, the kernel ends this process rather than the service.
  writeFileSync('/proc/self/oom_score_adj', '1000');
}
const watch = setInterval(() => {
  if (process.memoryUsage.rss() > MAX_RSS_BYTES) process.kill(process.pid, 'SIGKILL');
}, WATCH_EVERY_MS);

const input = await buffer(process.stdin);
const end = input.indexOf('\n');
const job = JSON.parse(input.subarray(0, end).toString()) as PictureJob;
const { reply, bytes } = await convert(job, input.subarray(end + 1));
process.stdout.write(`${JSON.stringify(reply)}\n`);
process.stdout.write(bytes);
clearInterval(watch);

async function convert(
  job: PictureJob,
  file: Buffer,
): Promise<{ readonly reply: PictureReply; readonly bytes: Buffer }> {
  try {
    return await converted(job, file);
  } catch {
    return refusal('the picture is damaged or incomplete');
  }
}

async function converted({ format, maxWidth, maxHeight }: PictureJob, file: Buffer) {
  const source = format === 'ico' ? sourceOfIcon(file) : () => sharp(file, LIMITS);
  if (source === null) return refusal('the icon is damaged, or of a form that is not supported');
  // Reads the header only.
  const { width, height } = await source().metadata();
  if (width * height > MAX_PIXELS || Math.max(width, height) > MAX_SIDE) {
    return refusal(
      `the picture has ${width} × ${height} pixels: it must have at most ${MAX_SIDE} in each direction and ${MAX_PIXELS / 1_048_576} million in all`,
    );
  }
  const fitted = source()
    .autoOrient()
    .resize({ width: maxWidth, height: maxHeight, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb');
  const png = await fitted
    .clone()
    .png({ compressionLevel: 9 })
    .toBuffer({ resolveWithObject: true });
  const { data, info } =
    png.data.length <= MAX_PNG_BYTES
      ? png
      : await fitted.clone().webp({ quality: WEBP_QUALITY }).toBuffer({ resolveWithObject: true });
  const type = info.format === 'png' ? 'image/png' : 'image/webp';
  const reply: PictureReply = { ok: true, type, width: info.width, height: info.height };
  return { reply, bytes: data };
}

function sourceOfIcon(file: Buffer): (() => Sharp) | null {
  const icon = largestIcon(file);
  if (icon === null) return null;
  const { bytes } = icon;
  if (icon.kind === 'png') return () => sharp(bytes, LIMITS);
  const { width, height } = icon;
  return () => sharp(bytes, { raw: { width, height, channels: 4 } });
}

function refusal(problem: string) {
  return { reply: { ok: false, problem } as const, bytes: Buffer.alloc(0) };
}
