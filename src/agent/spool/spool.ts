import type { MissedSlots } from '../../model/result/result.ts';

/** What a record is: a FINAL result, an ATTEMPT, missed slots, or a note of an artifact to send. */
export const SPOOL_KINDS = ['result', 'attempt', 'missed', 'artifact-note'] as const;
export type SpoolKind = (typeof SPOOL_KINDS)[number];

/** Evenly spaced slots of a check, epoch milliseconds. */
export type SpoolSlots = Pick<MissedSlots, 'checkId' | 'slot' | 'lastSlot' | 'count'>;

export interface SpoolRecord {
  readonly kind: SpoolKind;
  /** Unique within its kind; at most 1,024 bytes of UTF-8. */
  readonly id: string;
  /** When it came to be, epoch milliseconds. */
  readonly atMs: number;
  /** The spool keeps the very bytes: whoever puts them must not change them any more. */
  readonly body: Uint8Array;
  /** Those that it answers for, which are reported as missed where damage loses it; not read back. */
  readonly slots?: SpoolSlots | undefined;
}

export interface SpooledRecord extends SpoolRecord {
  /** Names the record to `accepted`, and grows from record to record. Good for this process. */
  readonly key: number;
}

/**
 * Why a record left the spool without being accepted.
 * - `space`: the bound in bytes was reached
 * - `age`: it waited for longer than the bound in days
 * - `memory`: the disk could not take it, and the memory for such times was full
 * - `damage`: its bytes on disk are not what was written
 */
export const SPOOL_DROP_REASONS = ['space', 'age', 'memory', 'damage'] as const;
export type SpoolDropReason = (typeof SPOOL_DROP_REASONS)[number];

/**
 * - `durable`: what is put is on disk after the next group commit
 * - `failing`: the disk refuses writes for now; what is put waits in memory, bounded
 * - `memory`: there is no folder; everything waits in memory, bounded
 */
export type SpoolState = 'durable' | 'failing' | 'memory';

/** What is kept beside the spool's own files and counts toward the same bound: artifacts. */
export interface BesideSpool {
  readonly bytes: number;
  /** Gives up the oldest of it until so many bytes are free, as far as there are any. Never throws. */
  shed(bytes: number): Promise<void>;
}

/**
 * The queue of what is on its way to the service. Records leave it in the order they came, and
 * only when they are accepted; what its bounds take away is counted by kind. The order is that of
 * arrival, so a clock that is set back or forward puts nothing before its time.
 */
export interface Spool {
  /** Takes a record over, on disk after the next group commit. Ignores one that it holds already. Never throws. */
  put(record: SpoolRecord): void;
  /** Resolves when all that was put so far is on disk (or gone); waits while the disk refuses. */
  committed(): Promise<void>;
  /**
   * The oldest records that are on disk, after the one with the key `after` where it is given:
   * as many as have at most `maxBytes` together, but one at least. They stay until accepted, so
   * the same call gives the same records again. While the disk refuses writes, and without a
   * folder, records in memory count too. Empty where there is none.
   *
   * @throws VedetteError of kind `environment` and code SPOOL_UNREADABLE where the disk cannot be
   *   read for now (too many open files, for example): nothing is lost, ask again later
   */
  batch(maxBytes: number, after?: number): Promise<readonly SpooledRecord[]>;
  /**
   * Takes records out for good; unknown keys are ignored. Resolves when that is on disk, or at once
   * while the disk refuses: a crash then brings them back, and the service knows them by their ids.
   */
  accepted(keys: readonly number[]): Promise<void>;
  /** Resolves true once `batch` would give something after that key; false when the signal aborts or the spool is closed. */
  available(signal: AbortSignal, after?: number): Promise<boolean>;
  has(kind: SpoolKind, id: string): boolean;
  /** Takes a record out that will never be accepted, and counts it as dropped. Ignores unknown ones. */
  discard(kind: SpoolKind, id: string, reason: SpoolDropReason): void;
  /** From now on this counts toward the bound in bytes too, and goes before any record. */
  share(beside: BesideSpool): void;
  /** What is left of the bound in bytes for what is kept beside; infinite without a folder. */
  readonly freeBytes: number;
  readonly state: SpoolState;
  /** What waits: records, and their bytes with what surrounds them. */
  readonly depth: { readonly records: number; readonly bytes: number };
  /** How long the oldest record has waited, milliseconds; null where none waits. */
  readonly oldestAgeMs: number | null;
  /** Records that left without being accepted, since the start. */
  readonly dropped: Readonly<Record<SpoolKind, number>>;
  /**
   * To be called once the slots that `onLost` told of before are reported and committed: the next
   * start counts and tells what it found damaged no more.
   */
  forgetDamage(): void;
  /** Files with damage found since the start; each is kept aside for a look. */
  readonly damagedFiles: number;
  /**
   * Commits what waits, as far as the disk allows, and lets the folder go. From then on nothing is
   * taken, read or accepted any more.
   */
  close(): Promise<void>;
}

/** Told of the slots of every record that damage lost, at the start and later. */
export type SpoolLost = (slots: SpoolSlots) => void;

/** Told of every record that left without being accepted; `count` is 1 or more. */
export type SpoolDropped = (kind: SpoolKind, count: number, reason: SpoolDropReason) => void;
