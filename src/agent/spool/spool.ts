import type { MissedSlots } from '../../model/result/missed-slots.ts';

/** A FINAL result, an ATTEMPT, missed slots, or a note of an artifact to send. */
export const SPOOL_KINDS = ['result', 'attempt', 'missed', 'artifact-note'] as const;
export type SpoolKind = (typeof SPOOL_KINDS)[number];

/** Evenly spaced slots of a check, epoch milliseconds. */
export type SpoolSlots = Pick<MissedSlots, 'checkId' | 'slot' | 'lastSlot' | 'count'>;

export interface SpoolRecord {
  readonly kind: SpoolKind;
  /** Unique within its kind; at most 1,024 bytes of UTF-8. */
  readonly id: string;
  /** Epoch milliseconds of its creation. */
  readonly atMs: number;
  /** Not copied: the caller must not change the bytes any more. */
  readonly body: Uint8Array;
  /** The slots of the record, reported as missed if damage loses it; not read back. */
  readonly slots?: SpoolSlots | undefined;
}

export interface SpooledRecord extends SpoolRecord {
  /** For `accepted`. Grows from record to record; valid in this process only. */
  readonly key: number;
}

/**
 * Why a record left the spool without being accepted.
 * - `space`: the bound in bytes was reached
 * - `age`: it waited for longer than the bound in days
 * - `memory`: it could not be written to disk in time, and the memory for waiting records was full
 * - `damage`: its bytes on disk are not what was written
 */
export const SPOOL_DROP_REASONS = ['space', 'age', 'memory', 'damage'] as const;
export type SpoolDropReason = (typeof SPOOL_DROP_REASONS)[number];

/**
 * - `durable`: new records are on disk after the next group commit
 * - `failing`: the disk refuses writes for now; new records wait in memory, bounded
 * - `memory`: there is no folder; all records wait in memory, bounded
 */
export type SpoolState = 'durable' | 'failing' | 'memory';

/** Artifacts, which are stored beside the spool's own files and share its bound in bytes. */
export interface SharedSpoolSpace {
  readonly bytes: number;
  /** Drops the oldest until this many bytes are free, or none is left. Never throws. */
  shed(bytes: number): Promise<void>;
}

/**
 * The queue of records for the service. They leave it when the service has accepted them; records
 * that its bounds drop are counted by kind. The order is that of arrival, whatever the clock does.
 */
export interface Spool {
  /**
   * Adds a record; it is on disk after the next group commit. Ignores a duplicate by kind and id.
   * Never throws.
   */
  put(record: SpoolRecord): void;
  /** Resolves when all records so far are on disk or have left; waits while the disk refuses. */
  committed(): Promise<void>;
  /**
   * The oldest records on disk with a key above `after`, of `maxBytes` together or a single one.
   * They stay until accepted: the same call returns the same records again. Includes records in
   * memory while the disk refuses writes and if there is no folder.
   *
   * @throws VedetteError of kind `environment` and code SPOOL_UNREADABLE if the disk cannot be
   *   read for now (too many open files, for example): nothing is lost, try again later
   */
  batch(maxBytes: number, after?: number): Promise<readonly SpooledRecord[]>;
  /**
   * Removes records; ignores unknown keys. Resolves when that is on disk, or at once while the disk
   * refuses: after a crash they are sent again, and the service recognizes their ids.
   */
  accepted(keys: readonly number[]): Promise<void>;
  /**
   * Resolves true once `batch` returns records after that key; false when the signal aborts or the
   * spool is closed.
   */
  available(signal: AbortSignal, after?: number): Promise<boolean>;
  has(kind: SpoolKind, id: string): boolean;
  /** Drops a record that will never be accepted, and counts it. Ignores unknown ones. */
  discard(kind: SpoolKind, id: string, reason: SpoolDropReason): void;
  /** Counts artifacts toward the bound in bytes from now on, and drops them before any record. */
  share(beside: SharedSpoolSpace): void;
  /** The rest of the bound in bytes, for artifacts; infinite without a folder. */
  readonly freeBytes: number;
  readonly state: SpoolState;
  /** Waiting records, and the bytes of their frames. */
  readonly depth: { readonly records: number; readonly bytes: number };
  /** How long the oldest record has waited, milliseconds; null if none waits. */
  readonly oldestAgeMs: number | null;
  /** Records that left without being accepted, since the start. */
  readonly dropped: Readonly<Record<SpoolKind, number>>;
  /**
   * Call once the slots that `onLost` reported are committed as missed: the next start does not
   * report the same damage again.
   */
  forgetDamage(): void;
  /** Files with damage found since the start; each is moved aside for inspection. */
  readonly damagedFiles: number;
  /**
   * Commits waiting records, as far as the disk allows, and unlocks the folder. The spool takes,
   * reads and removes nothing afterwards.
   */
  close(): Promise<void>;
}

/** Receives the slots of every record that damage lost, at the start and later. */
export type SpoolLost = (slots: SpoolSlots) => void;

/** Receives every record that left without being accepted; `count` is 1 or more. */
export type SpoolDropped = (kind: SpoolKind, count: number, reason: SpoolDropReason) => void;
