import type { SpoolKind, SpoolSlots } from './spool.ts';

/** A file of a log. `live` counts its records that still wait. */
export interface Segment {
  readonly path: string;
  bytes: number;
  manifestBytes: number;
  live: number;
  /** Has bytes that are not what was written: it is moved aside, not deleted, when no record waits in it. */
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
  /** On a clock that only goes forward, sleep of the machine included; whole milliseconds. */
  readonly bornMs: number;
  /** Bytes of its frame. */
  readonly bytes: number;
  /** Null once it is on disk. */
  content: Content | null;
  /** The file of its frame; null while it is in memory only. */
  segment: Segment | null;
  /** Where in the file it begins. */
  offset: number;
  /** Left the spool; only the queue may still contain it. */
  gone: boolean;
}

/**
 * The two logs. `spare` is dropped first when there is no room: losing an attempt or an artifact
 * loses no run's outcome. Each has files of its own: the oldest records are dropped with their file,
 * and nothing is ever copied.
 */
export const LOG_PRIORITIES = ['spare', 'main'] as const;
export type LogPriority = (typeof LOG_PRIORITIES)[number];

export const PRIORITY_OF_KIND: Readonly<Record<SpoolKind, LogPriority>> = {
  attempt: 'spare',
  'artifact-note': 'spare',
  result: 'main',
  missed: 'main',
};
