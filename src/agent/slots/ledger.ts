import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { MissedSlots } from '../../model/result/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { type LedgerState, ledgerText, readLedger } from './ledger-file.ts';
import { missedSince, type PlannedChecks } from './missed-since.ts';
import { UnfinishedSlots } from './unfinished-slots.ts';

/** Between two writings. */
const SAVE_EVERY_MS = 1_000;

export interface SlotAccountOptions {
  /** null: nothing is kept, so nothing is known after a restart. */
  readonly dataDir: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Epoch milliseconds up to which every slot of the plan was taken up or reported as missed. What
   * the wall clock shows may lie ahead of it: a turn of the scheduler may be late.
   */
  readonly reachedMs: () => number;
  /** Resolves when all that the sink was told so far is where a killed process leaves it. */
  readonly committed: () => Promise<void>;
}

/**
 * Keeps in DATA_DIR/accounted.json what became of the slots: up to which instant all of them have
 * a FINAL or a missed record in the spool, or are another location's, and which are unfinished. So
 * the next process, however this one ended, can say which slots nobody answers for (DESIGN 4,
 * Nothing lost).
 *
 * Where the two cannot be exact, slots are missed that were run, never the other way round: the
 * service leaves out of a missed record what it has a FINAL of.
 */
export interface SlotLedger {
  /** The plan's slot is taken up: it runs, or waits for a place. */
  began(checkId: string, slotMs: number): void;
  /** All that comes of it was told to the sink, or another location has it. */
  ended(checkId: string, slotMs: number): void;
  /**
   * The slots up to `startMs` that the process before this one left without an answer, at most
   * 7 days back. None at a first start.
   *
   * @param set what that process ran last
   * @param startMs epoch milliseconds from which this one's scheduler takes slots, or later
   */
  missedBefore(set: PlannedChecks, startMs: number): readonly MissedSlots[];
  /** Keeps the file up to date, once a second, until the signal aborts. Only for after `unaccounted` was told to the sink. */
  run(signal: AbortSignal): Promise<void>;
  /** Writes it once more; for the end, when all is told. Gives up when the signal aborts. */
  save(signal: AbortSignal): Promise<void>;
}

/** Reads what the process before this one left. */
export async function openSlotLedger(options: SlotAccountOptions): Promise<SlotLedger> {
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
  return new FileAccount(options, dataDir, file, await readLedger(file, log));
}

class FileAccount implements SlotLedger {
  readonly #options: SlotAccountOptions;
  readonly #dataDir: string;
  readonly #file: string;
  readonly #before: LedgerState | null;
  readonly #unfinished = new UnfinishedSlots();
  /** One after the other: they share a file. */
  #writing: Promise<void> = Promise.resolve();
  /** What the log was last told to be wrong; null since the last writing. */
  #told: string | null = null;

  constructor(
    options: SlotAccountOptions,
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
    // First what is true now, then the wait for it to be safe: not the other way round.
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
      // Not durable: it is written every second, and a power cut is no more than an older one.
      await replaceFile(file, ledgerText(accounted), { durable: false });
      if (this.#told !== null) log.warn({ file }, 'it is kept again which slots were run');
      this.#told = null;
    } catch (error) {
      const reason = messageOf(error);
      if (reason === this.#told) return;
      this.#told = reason;
      const what =
        'it cannot be kept which slots were run: after a crash more of them count as missed';
      log.warn({ file, reason }, what);
    }
  }
}
