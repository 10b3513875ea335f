import type { SpoolKind, SpoolSlots } from './spool.ts';

/** A file of a log. `live` counts its records that still wait. */
export interface Segment {
  readonly path: string;
  bytes: number;
  manifestBytes: number;
  live: number;
  /**
   * Contains bytes that differ from what was written: it is moved aside, not deleted, when no
   * record waits in it.
   */
  damaged: boolean;
}

/** The part of a record that is in memory only until it is on disk. */
export interface Content {
  readonly atMs: number;
  readonly body: Uint8Array;
  /** Only until it is on disk. */
  readonly slots?: SpoolSlots | undefined;
}

/** A waiting record. There may be hundreds of thousands: keep it small. */
export interface Entry {
  readonly kind: SpoolKind;
  readonly id: string;
  readonly key: number;
  /** Its creation by the boot clock (monotonic, includes sleep of the machine); milliseconds. */
  readonly bornMs: number;
  /** Bytes of its frame. */
  readonly bytes: number;
  /** Null once it is on disk. */
  content: Content | null;
  /** The file of its frame; null while it is in memory only. */
  segment: Segment | null;
  /** The position of its frame in the file. */
  offset: number;
  /** Left the spool; only the queue may still contain it. */
  gone: boolean;
}
