/** An image in an icon file; 0 stands for 256. */
interface IconEntry {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly data: Buffer;
}

/** Enough of a PNG file for an icon file, which does not look into it. */
export const PNG_IN_ICON = Buffer.from('89504e470d0a1a0a00000000', 'hex');

/** An icon file. */
export function icon(entries: readonly IconEntry[]): Buffer {
  const header = Buffer.alloc(6);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(entries.length, 4);
  let offset = 6 + 16 * entries.length;
  const rows = entries.map(({ width, height, bits, data }) => {
    const row = Buffer.alloc(16);
    row.writeUInt8(width, 0);
    row.writeUInt8(height, 1);
    row.writeUInt16LE(bits, 6);
    row.writeUInt32LE(data.length, 8);
    row.writeUInt32LE(offset, 12);
    offset += data.length;
    return row;
  });
  return Buffer.concat([header, ...rows, ...entries.map(({ data }) => data)]);
}

/**
 * A bitmap of an icon file with rows from the bottom. Blue comes first in pixels and palettes.
 *
 * @param pixels of all rows; rows of other than 32 bits are padded here only if there is one row
 */
export function bitmap(
  width: number,
  height: number,
  bits: number,
  pixels: readonly number[],
  palette: readonly number[] = [],
  mask: readonly number[] = [],
): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt32LE(40, 0);
  header.writeInt32LE(width, 4);
  header.writeInt32LE(height * 2, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(bits, 14);
  header.writeUInt32LE(palette.length / 4, 32);
  const rows = Buffer.alloc(Math.ceil((width * bits) / 32) * 4 * height);
  rows.set(pixels);
  const masks = Buffer.alloc(Math.ceil(width / 32) * 4 * height);
  masks.set(mask);
  return Buffer.concat([header, Buffer.from(palette), rows, masks]);
}
