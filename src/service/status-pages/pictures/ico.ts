/** What an icon file contains: a PNG file, or pixels of four bytes each (RGBA), top row first. */
export type IconImage =
  | { readonly kind: 'png'; readonly bytes: Buffer }
  | {
      readonly kind: 'pixels';
      readonly bytes: Buffer;
      readonly width: number;
      readonly height: number;
    };

const HEADER_BYTES = 6;
const ENTRY_BYTES = 16;
/** Icons have about 10 sizes. */
const MAX_ENTRIES = 64;
const PNG_SIGNATURE = '89504e470d0a1a0a';
/** BITMAPINFOHEADER. */
const BITMAP_HEADER_BYTES = 40;
const MAX_SIDE = 1_024;
const UNCOMPRESSED = 0;

/**
 * Returns the largest image of an icon file; among equally large ones, the one with the most colours. null if the
 * file is damaged or has a bitmap in an unsupported format. Never reads outside of `file`.
 */
export function largestIcon(file: Buffer): IconImage | null {
  if (file.length < HEADER_BYTES) return null;
  const count = Math.min(file.readUInt16LE(4), MAX_ENTRIES);
  const entries = Array.from({ length: count }, (_, n) => HEADER_BYTES + n * ENTRY_BYTES)
    .filter((at) => at + ENTRY_BYTES <= file.length)
    .map((at) => ({
      // 0 stands for 256.
      area: (file.readUInt8(at) || 256) * (file.readUInt8(at + 1) || 256),
      bits: file.readUInt16LE(at + 6),
      data: sliceOf(file, file.readUInt32LE(at + 12), file.readUInt32LE(at + 8)),
    }))
    .sort((one, other) => other.area - one.area || other.bits - one.bits);
  const data = entries[0]?.data ?? null;
  if (data === null) return null;
  if (data.subarray(0, 8).toString('hex') === PNG_SIGNATURE) return { kind: 'png', bytes: data };
  return bitmapOf(data);
}

function sliceOf(file: Buffer, start: number, length: number): Buffer | null {
  return start + length <= file.length ? file.subarray(start, start + length) : null;
}

/** A bitmap without file header: its rows from the bottom, then a mask of one bit for each pixel. */
function bitmapOf(data: Buffer): IconImage | null {
  if (data.length < BITMAP_HEADER_BYTES) return null;
  const headerBytes = data.readUInt32LE(0);
  const width = data.readInt32LE(4);
  // The height includes that of the mask.
  const height = data.readInt32LE(8) / 2;
  const bits = data.readUInt16LE(14);
  const isPlain =
    headerBytes === BITMAP_HEADER_BYTES &&
    data.readUInt32LE(16) === UNCOMPRESSED &&
    [1, 4, 8, 24, 32].includes(bits) &&
    [width, height].every((side) => Number.isInteger(side) && side >= 1 && side <= MAX_SIDE);
  if (!isPlain) return null;
  const colors = bits <= 8 ? data.readUInt32LE(32) || 2 ** bits : 0;
  if (colors > 256) return null;
  const paletteAt = BITMAP_HEADER_BYTES;
  const rowsAt = paletteAt + colors * 4;
  const rowBytes = strideOf(width * bits);
  const maskAt = rowsAt + rowBytes * height;
  const maskRowBytes = strideOf(width);
  if (data.length < maskAt) return null;
  // Some writers of 32-bit icons leave the mask out.
  const hasMask = data.length >= maskAt + maskRowBytes * height;

  // If no pixel has alpha, the mask decides.
  const hasAlpha = bits === 32 && hasAlphaBetween(data, rowsAt, maskAt);

  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    const row = rowsAt + rowBytes * (height - 1 - y);
    const maskRow = maskAt + maskRowBytes * (height - 1 - y);
    for (let x = 0; x < width; x += 1) {
      const from = bits > 8 ? row + (x * bits) / 8 : paletteAt + 4 * indexAt(data, row, x, bits);
      // An index may point behind a short palette.
      if (from + 3 > data.length) return null;
      const to = (y * width + x) * 4;
      pixels[to] = data.readUInt8(from + 2);
      pixels[to + 1] = data.readUInt8(from + 1);
      pixels[to + 2] = data.readUInt8(from);
      const isMasked = hasMask && indexAt(data, maskRow, x, 1) === 1;
      pixels[to + 3] = hasAlpha ? data.readUInt8(from + 3) : isMasked ? 0 : 255;
    }
  }
  return { kind: 'pixels', bytes: pixels, width, height };
}

function hasAlphaBetween(data: Buffer, start: number, end: number): boolean {
  for (let at = start + 3; at < end; at += 4) {
    if (data[at] !== 0) return true;
  }
  return false;
}

/** Rows are padded to four bytes. */
function strideOf(bits: number): number {
  return Math.ceil(bits / 32) * 4;
}

/** A value of 1, 4 or 8 bits; the first pixel is in the highest bits. */
function indexAt(data: Buffer, row: number, x: number, bits: number): number {
  const at = x * bits;
  const byte = data.readUInt8(row + Math.floor(at / 8));
  return (byte >> (8 - bits - (at % 8))) & (2 ** bits - 1);
}
