import { crc32 } from 'node:zlib';
import { SPOOL_KINDS, type SpoolKind } from './spool.ts';

/**
 * A record on disk, little-endian:
 *
 * | bytes | what |
 * |---|---|
 * | 0..3 | magic number; in no UTF-8 text, so no body of JSON can be taken for a frame |
 * | 4..7 | bytes of the whole frame |
 * | 8..11 | CRC-32 of all that follows |
 * | 12 | type: index of the kind in SPOOL_KINDS, or 255 for a removal |
 * | 13 | 0 |
 * | 14..15 | bytes of the id |
 * | 16..23 | key, as a double |
 * | 24..31 | number of the frame in its log, without gaps, as a double |
 * | 32..39 | epoch milliseconds, as a double |
 * | 40.. | id, then body |
 *
 * A removal's body is the keys of the records that left, and `lostKeyOf` the numbers of frames that
 * are known to be lost, eight bytes each.
 */
export interface Frame {
  readonly type: SpoolKind | 'removal';
  readonly key: number;
  readonly number: number;
  readonly atMs: number;
  readonly id: string;
  readonly body: Uint8Array;
}

const MARK = Buffer.from([0xf9, 0x56, 0xd1, 0x01]);
const HEADER_BYTES = 40;
const CRC_FROM = 12;
const REMOVAL = 255;
const KEY_BYTES = 8;

export function frameBytes(id: string, bodyBytes: number): number {
  return HEADER_BYTES + Buffer.byteLength(id) + bodyBytes;
}

/** The bytes of the frames, one after the other, and the offset of each frame. */
export function encodeFrames(frames: readonly Frame[]): {
  readonly bytes: Buffer;
  readonly offsets: readonly number[];
} {
  const sizes = frames.map(({ id, body }) => frameBytes(id, body.length));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, frame] of frames.entries()) {
    const size = sizes[index] ?? 0;
    writeFrame(bytes.subarray(offset, offset + size), frame);
    offsets.push(offset);
    offset += size;
  }
  return { bytes, offsets };
}

function writeFrame(target: Buffer, frame: Frame): void {
  MARK.copy(target);
  target.writeUInt32LE(target.length, 4);
  target[12] = frame.type === 'removal' ? REMOVAL : SPOOL_KINDS.indexOf(frame.type);
  target[13] = 0;
  target.writeDoubleLE(frame.key, 16);
  target.writeDoubleLE(frame.number, 24);
  target.writeDoubleLE(frame.atMs, 32);
  const idBytes = target.write(frame.id, HEADER_BYTES, 'utf8');
  target.writeUInt16LE(idBytes, 14);
  target.set(frame.body, HEADER_BYTES + idBytes);
  target.writeUInt32LE(crc32(target.subarray(CRC_FROM)), 8);
}

/** The undamaged frame at this offset, and its size; else null. */
export function readFrame(
  bytes: Buffer,
  offset: number,
): { readonly frame: Frame; readonly bytes: number } | null {
  if (offset + HEADER_BYTES > bytes.length || !hasMark(bytes, offset)) return null;
  const size = bytes.readUInt32LE(offset + 4);
  if (size < HEADER_BYTES || offset + size > bytes.length) return null;
  const own = bytes.subarray(offset, offset + size);
  if (crc32(own.subarray(CRC_FROM)) !== own.readUInt32LE(8)) return null;
  const type = own[12] === REMOVAL ? 'removal' : SPOOL_KINDS[own[12] ?? REMOVAL];
  const bodyFrom = HEADER_BYTES + own.readUInt16LE(14);
  if (type === undefined || bodyFrom > size) return null;
  const frame: Frame = {
    type,
    key: own.readDoubleLE(16),
    number: own.readDoubleLE(24),
    atMs: own.readDoubleLE(32),
    id: own.toString('utf8', HEADER_BYTES, bodyFrom),
    body: own.subarray(bodyFrom),
  };
  return { frame, bytes: size };
}

function hasMark(bytes: Buffer, offset: number): boolean {
  return bytes.compare(MARK, 0, MARK.length, offset, offset + MARK.length) === 0;
}

/** The offset of the next undamaged frame, at `from` or later; null if there is none. */
export function findFrame(bytes: Buffer, from: number): number | null {
  let at = bytes.indexOf(MARK, from);
  while (at !== -1) {
    if (readFrame(bytes, at) !== null) return at;
    at = bytes.indexOf(MARK, at + 1);
  }
  return null;
}

/**
 * Whether the end of a file, from `offset` on, is a write that was cut short: the start of a frame
 * whose end is missing, the zeros of a file that grew before its bytes were there, or both.
 */
export function isTornWrite(bytes: Buffer, offset: number): boolean {
  let end = bytes.length;
  while (end > offset && bytes[end - 1] === 0) end -= 1;
  if (end === offset) return true;
  const rest = bytes.subarray(offset, end);
  const mark = MARK.subarray(0, Math.min(MARK.length, rest.length));
  if (!rest.subarray(0, mark.length).equals(mark)) return false;
  return rest.length < HEADER_BYTES || rest.readUInt32LE(4) > rest.length;
}

/** The key in a removal for a lost frame that was reported: −1 − its number. */
export function lostKeyOf(number: number): number {
  return -1 - number;
}

export function encodeKeys(keys: readonly number[]): Buffer {
  const body = Buffer.allocUnsafe(keys.length * KEY_BYTES);
  for (const [index, key] of keys.entries()) body.writeDoubleLE(key, index * KEY_BYTES);
  return body;
}

export function decodeKeys(body: Uint8Array): number[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return Array.from({ length: Math.floor(body.byteLength / KEY_BYTES) }, (_, index) =>
    view.getFloat64(index * KEY_BYTES, true),
  );
}
