import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { type LedgerState, ledgerText, readLedger } from './ledger-file.ts';
import { missedSince, type PlannedChecks } from './missed-since.ts';
import type { SlotObserver } from './slot-observer.ts';
import { UnfinishedSlots } from './unfinished-slots.ts';

const SAVE_EVERY_MS = 1_000;

export interface SlotLedgerOptions {
  /** null: nothing is saved, so nothing is known after a restart. */
  readonly dataDir: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Epoch milliseconds up to which every slot of the plan was taken or reported as missed. The wall
   * clock may be ahead: a tick of the scheduler may be late.
   */
  readonly reachedMs: () => number;
  /** Resolves when all that was passed to the sink so far survives a kill of the process. */
  readonly committed: () => Promise<void>;
}

/**
 * Saves the state of the slots in DATA_DIR/accounted.json: up to which instant all of them have a
 * FINAL or a missed record in the spool, or are another location's, and which are unfinished.
 * However this process ends, the next one knows which slots are unanswered (src/agent/README.md,
 * "Delivery of results").
 *
 * If this is not exact, slots that were run are reported as missed, never the reverse: the service
 * ignores missed slots that have a FINAL.
 */
export interface SlotLedger extends SlotObserver {
  /**
   * The slots up to `startMs` that the process before this one left without an answer, at most
   * 7 days back. None at a first start.
   *
   * @param set the checks that the process ran last
   * @param startMs epoch milliseconds from which this one's scheduler takes slots, or later
   */
  missedBefore(set: PlannedChecks, startMs: number): readonly MissedSlots[];
  /**
   * Updates the file once a second until the signal aborts. Call it after `missedBefore` was
   * reported.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Writes the file once more, at the end. Gives up when the signal aborts. */
  save(signal: AbortSignal): Promise<void>;
}

/** Reads what the process before this one left. */
export async function openSlotLedger(options: SlotLedgerOptions): Promise<SlotLedger> {
  const { dataDir, log } = options;
  if (dataDir === null) {
    return {
      began: () => {},
      ended: () => {},
      missedBefore: () => [],
      run: async () => {},
      save: async () => {},
    };
  }
  const file = join(dataDir, 'accounted.json');
  return new FileLedger(options, dataDir, file, await readLedger(file, log));
}

class FileLedger implements SlotLedger {
  readonly #options: SlotLedgerOptions;
  readonly #dataDir: string;
  readonly #file: string;
  readonly #before: LedgerState | null;
  readonly #unfinished = new UnfinishedSlots();
  /** One after the other: they share a file. */
  #writing: Promise<void> = Promise.resolve();
  /** The problem that was logged last; null after a successful write. */
  #loggedProblem: string | null = null;

  constructor(
    options: SlotLedgerOptions,
    dataDir: string,
    file: string,
    before: LedgerState | null,
  ) {
    this.#options = options;
    this.#dataDir = dataDir;
    this.#file = file;
    this.#before = before;
  }

  began(checkId: string, slotMs: number): void {
    this.#unfinished.add(checkId, slotMs);
  }

  ended(checkId: string, slotMs: number): void {
    this.#unfinished.remove(checkId, slotMs);
  }

  missedBefore(set: PlannedChecks, startMs: number): readonly MissedSlots[] {
    return this.#before === null ? [] : missedSince(this.#before, set, startMs);
  }

  async run(signal: AbortSignal): Promise<void> {
    do await this.save(signal);
    while (await sleep(this.#options.clock, SAVE_EVERY_MS, signal));
  }

  async save(signal: AbortSignal): Promise<void> {
    // Take the state first, then wait until it is committed, not the reverse.
    const accounted = this.#unfinished.accounted(this.#options.reachedMs());
    if (!(await isInTime(this.#options.committed(), signal))) return;
    this.#writing = this.#writing.then(() => this.#write(accounted));
    await this.#writing;
  }

  async #write(accounted: LedgerState): Promise<void> {
    const { log } = this.#options;
    const file = this.#file;
    try {
      await mkdir(this.#dataDir, { recursive: true, mode: 0o700 });
      // Not durable: it is written every second, and after a power cut an older one serves.
      await replaceFile(file, ledgerText(accounted), { durable: false });
      if (this.#loggedProblem !== null)
        log.warn({ file }, 'the slots that were run can be saved again');
      this.#loggedProblem = null;
    } catch (error) {
      const reason = messageOf(error);
      if (reason === this.#loggedProblem) return;
      this.#loggedProblem = reason;
      const what =
        'the slots that were run cannot be saved: after a crash more of them count as missed';
      log.warn({ file, reason }, what);
    }
  }
}
