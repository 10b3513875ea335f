import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { isInTime, sleep } from '../../../runtime/wait.ts';
import { readAssignments, type SavedAssignments, writeAssignments } from './assignment-file.ts';
import { assignmentsBox } from './sealed-lines.ts';

export type { SavedAssignments, SavedSettings } from './assignment-file.ts';

/** Delay from a change to its write, and the minimum between two writes. */
const SAVE_DELAY_MS = 1_000;
/** Delay after a failed write. */
const RETRY_MS = 30_000;

export interface AssignmentStoreOptions {
  /** null: nothing is saved. */
  readonly dataDir: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /** What to write; called at each write. */
  readonly current: () => SavedAssignments;
  /** The current location key: only an agent with this key can read the file. */
  readonly key: () => string;
}

/**
 * The last assignments in DATA_DIR/assignments.json, which an agent runs when it starts while the
 * service is away (src/agent/README.md, "While the service is away"). They contain variables and
 * private keys, so the file is sealed: the disk without the location key reveals nothing.
 */
export class AssignmentStore {
  readonly #options: AssignmentStoreOptions;
  readonly #file: string | null;
  #cancel: CancelTimer | null = null;
  /** Changes so far, and how many of them are in the file. */
  #changes = 0;
  #written = 0;
  #writing: Promise<void> | null = null;
  /** Changes in the last attempted write, and its end in monotonic milliseconds. */
  #tried = 0;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  /** The problem that was logged last; null since the last successful write. */
  #loggedProblem: string | null = null;
  #isClosed = false;

  constructor(options: AssignmentStoreOptions) {
    this.#options = options;
    this.#file = options.dataDir === null ? null : join(options.dataDir, 'assignments.json');
  }

  /**
   * null if there are none. Renames a damaged file and logs that; a file sealed with another key
   * stays until the next write replaces it.
   */
  async load(): Promise<SavedAssignments | null> {
    const file = this.#file;
    if (file === null) return null;
    const { log, key } = this.#options;
    try {
      const { unreadable, ...saved } = await readAssignments(file, assignmentsBox(key()));
      if (unreadable > 0) {
        log.warn({ file, checks: unreadable }, 'saved checks cannot be read by this release');
      }
      return saved;
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return null;
      const code = error instanceof VedetteError ? error.code : null;
      if (code === 'ASSIGNMENTS_OF_OTHER_KEY') {
        const what =
          'the last assignments were sealed with another location key, so checks run once the service answers';
        log.warn({ file }, what);
        return null;
      }
      const isDamaged = error instanceof SyntaxError || code === 'ASSIGNMENTS_DAMAGED';
      const movedTo = isDamaged ? await putAside(file) : null;
      const what = 'the last assignments cannot be read, so checks run once the service answers';
      log.warn({ file, reason: messageOf(error), movedTo }, what);
      return null;
    }
  }

  /** Called after a change; writes it within a second. */
  changed(): void {
    this.#changes += 1;
    this.#schedule(SAVE_DELAY_MS);
  }

  /**
   * Writes changes without the usual delay, at most once per second. Resolves when they are in the
   * file, when the write fails, or when the signal aborts.
   */
  async saved(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const changes = this.#changes;
    const isPending = (): boolean =>
      this.#tried < changes && this.#loggedProblem === null && !this.#isClosed && !signal.aborted;
    if (this.#file === null) return;
    while (isPending()) {
      const waitMs = this.#triedAtMs + SAVE_DELAY_MS - clock.monotonicMs();
      if (this.#writing === null && waitMs > 0) await sleep(clock, waitMs, signal);
      else await isInTime(this.#writing ?? this.#begin(), signal);
    }
  }

  /** Writes pending changes, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = null;
    await this.#writing;
    if (this.#written < this.#changes) await this.#write();
  }

  #schedule(delayMs: number): void {
    if (this.#file === null || this.#isClosed) return;
    // Changes during the write need another one.
    if (this.#cancel !== null || this.#writing !== null) return;
    this.#cancel = this.#options.clock.after(delayMs, () => void this.#begin());
  }

  #begin(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    this.#writing = this.#write().then(() => {
      this.#writing = null;
      if (this.#written < this.#changes)
        this.#schedule(this.#loggedProblem === null ? SAVE_DELAY_MS : RETRY_MS);
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { dataDir, log, clock, current, key } = this.#options;
    const file = this.#file;
    if (file === null || dataDir === null) return;
    const changes = this.#changes;
    try {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      await writeAssignments(file, current(), assignmentsBox(key()));
      if (this.#loggedProblem !== null)
        log.warn({ file }, 'the assignments are saved to disk again');
      this.#loggedProblem = null;
      this.#written = changes;
    } catch (error) {
      const reason = messageOf(error);
      if (reason === this.#loggedProblem) return;
      this.#loggedProblem = reason;
      log.warn({ file, reason }, 'the assignments cannot be saved to disk; the agent continues');
    } finally {
      this.#tried = changes;
      this.#triedAtMs = clock.monotonicMs();
    }
  }
}

/** Keeps a damaged file for inspection until the next damaged file replaces it. */
async function putAside(file: string): Promise<string | null> {
  const aside = `${file}.damaged`;
  try {
    await rename(file, aside);
    return aside;
  } catch {
    return null;
  }
}
