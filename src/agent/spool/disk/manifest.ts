import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { closeQuietly, type FileSystem, readFully } from '../../../runtime/files/file-system.ts';
import type { Frame } from '../frame.ts';
import { SPOOL_KINDS, type SpoolKind, type SpoolSlots } from '../spool.ts';

/**
 * The contents of a segment, in a file beside it (`main-….manifest`). It shows what is lost if the
 * segment is cut short, overwritten or gone. It has one line per group of frames on disk: the
 * CRC-32 of the JSON in hex, a space, and
 *
 *     {"first":7,"frames":[["result",12,"a-check",1700000000000],["removal",[3,4]]]}
 *
 * `first` is the number of the first frame; the others follow it. A frame is its kind, its key and
 * its slots: check, slot, and for several also the last slot and their count. Damaged lines are
 * ignored.
 */
export interface NotedRecord {
  readonly kind: SpoolKind;
  readonly number: number;
  readonly key: number;
  readonly slots: SpoolSlots | null;
}

export interface NotedRemoval {
  readonly kind: 'removal';
  readonly number: number;
  readonly keys: readonly number[];
}

export type NotedFrame = NotedRecord | NotedRemoval;

/** The part of a frame that goes into the manifest. */
export type NotableFrame = Pick<Frame, 'type' | 'key' | 'number'> & {
  readonly slots?: SpoolSlots | undefined;
  /** The records that a removal names. */
  readonly keys?: readonly number[];
};

type Line = z.infer<typeof lineSchema>;

const kind = z.enum(SPOOL_KINDS);
const whole = z.int();
const frame = z.union([
  z.tuple([kind, whole]),
  z.tuple([kind, whole, z.string(), whole]),
  z.tuple([kind, whole, z.string(), whole, whole, whole]),
  z.tuple([z.literal('removal'), z.array(whole)]),
]);
const lineSchema = z.object({ first: whole, frames: z.array(frame) });

/** One line. The frames' numbers must follow each other. */
export function encodeNotes(frames: readonly NotableFrame[]): Buffer {
  const line: Line = { first: frames[0]?.number ?? 0, frames: frames.map(noteOf) };
  const json = JSON.stringify(line);
  return Buffer.from(`${crcOf(json)} ${json}\n`);
}

function noteOf({ type, key, slots, keys = [] }: NotableFrame): Line['frames'][number] {
  if (type === 'removal') return [type, [...keys]];
  if (slots === undefined) return [type, key];
  const { checkId, slot, lastSlot, count } = slots;
  return count === 1 ? [type, key, checkId, slot] : [type, key, checkId, slot, lastSlot, count];
}

/** Skips damaged lines and lines of an unknown form. */
export function decodeManifest(text: string): NotedFrame[] {
  return text.split('\n').flatMap((line) => {
    const json = line.slice(CRC_DIGITS + 1);
    if (json === '' || line.slice(0, CRC_DIGITS) !== crcOf(json)) return [];
    const parsed = lineSchema.safeParse(JSON.parse(json));
    if (!parsed.success) return [];
    const { first, frames } = parsed.data;
    return frames.map((each, index) => notedFrom(each, first + index));
  });
}

function notedFrom(each: Line['frames'][number], number: number): NotedFrame {
  if (each[0] === 'removal') return { kind: each[0], number, keys: each[1] };
  const [kindOfRecord, key, checkId, slot, lastSlot = slot, count = 1] = each;
  const slots =
    checkId === undefined || slot === undefined || lastSlot === undefined
      ? null
      : { checkId, slot, lastSlot, count };
  return { kind: kindOfRecord, number, key, slots };
}

const CRC_DIGITS = 8;

function crcOf(json: string): string {
  return crc32(json).toString(16).padStart(CRC_DIGITS, '0');
}

/** Empty if the file is gone or unreadable (EIO). @throws the system's error with any other code */
export async function readManifest(path: string, disk: FileSystem): Promise<NotedFrame[]> {
  try {
    const handle = await disk.open(path, 'r');
    try {
      const { size } = await handle.stat();
      const bytes = Buffer.allocUnsafe(size);
      return decodeManifest(bytes.toString('utf8', 0, await readFully(handle, bytes, 0)));
    } finally {
      await closeQuietly(handle);
    }
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'EIO' || code === 'EISDIR') return [];
    throw error;
  }
}
