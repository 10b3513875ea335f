import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { replaceFile } from '../../runtime/replace-file.ts';
import {
  type Assignment,
  assignmentEnvelope,
  assignmentMessageOf,
  readAssignment,
} from '../../wire/v1/assignment.ts';
import { locationName } from '../../wire/v1/fields.ts';
import { type LocationSettings, locationSettingsSchema } from '../../wire/v1/poll.ts';

const FORMAT = 1;
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** From a change to the writing of it. */
const SAVE_DELAY_MS = 1_000;
/** After the disk refused. */
const RETRY_MS = 30_000;
/** After so many the event loop goes on. */
const CHECKS_A_TURN = 100;

export interface SavedAssignments {
  readonly location: string;
  readonly settings: LocationSettings;
  readonly assignments: readonly Assignment[];
}

export interface AssignmentStoreOptions {
  /** null: nothing is kept. */
  readonly dataDir: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  /** What is to be written, asked when it is. */
  readonly current: () => SavedAssignments;
}

const savedSchema = z.object({
  format: z.literal(FORMAT),
  location: locationName,
  // A release before them wrote none.
  settings: locationSettingsSchema.default({ clientCertificates: [], pauses: [] }),
  assignments: z.array(z.unknown()),
});

/**
 * The last assignments in DATA_DIR/assignments.json, by which an agent runs that starts while the
 * service is away (SEMANTICS 4, Lost service).
 */
export class AssignmentStore {
  readonly #options: AssignmentStoreOptions;
  readonly #file: string | null;
  #cancel: CancelTimer | null = null;
  /** Changes so far, and how many of them the file has. */
  #changes = 0;
  #written = 0;
  #writing: Promise<void> | null = null;
  /** What the log was last told to be wrong; null since the last writing. */
  #told: string | null = null;
  #isClosed = false;

  constructor(options: AssignmentStoreOptions) {
    this.#options = options;
    this.#file = options.dataDir === null ? null : join(options.dataDir, 'assignments.json');
  }

  /** Null where there are none. A file that cannot be read is put aside, and the log says so. */
  async load(): Promise<SavedAssignments | null> {
    const file = this.#file;
    if (file === null) return null;
    try {
      return await this.#read(file);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return null;
      const isDamaged = error instanceof SyntaxError || error instanceof VedetteError;
      const movedTo = isDamaged ? await putAside(file) : null;
      const what = 'the last assignments cannot be read, so checks run once the service answers';
      this.#options.log.warn({ file, reason: messageOf(error), movedTo }, what);
      return null;
    }
  }

  /** There is something new to be written, within a second. */
  changed(): void {
    this.#changes += 1;
    this.#schedule(SAVE_DELAY_MS);
  }

  /** Writes what waits, and nothing from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = null;
    await this.#writing;
    if (this.#written < this.#changes) await this.#write();
  }

  #schedule(delayMs: number): void {
    if (this.#file === null || this.#isClosed) return;
    // What comes while it is written follows behind.
    if (this.#cancel !== null || this.#writing !== null) return;
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.#cancel = null;
      this.#writing = this.#write().then(() => {
        this.#writing = null;
        if (this.#written < this.#changes)
          this.#schedule(this.#told === null ? SAVE_DELAY_MS : RETRY_MS);
      });
    });
  }

  async #write(): Promise<void> {
    const { dataDir, log, current } = this.#options;
    const file = this.#file;
    if (file === null || dataDir === null) return;
    const changes = this.#changes;
    try {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      await replaceFile(file, textOf(current()), { durable: true });
      if (this.#told !== null) log.warn({ file }, 'the assignments are kept on disk again');
      this.#told = null;
      this.#written = changes;
    } catch (error) {
      const reason = messageOf(error);
      if (reason === this.#told) return;
      this.#told = reason;
      log.warn({ file, reason }, 'the assignments cannot be kept on disk; the agent goes on');
    }
  }

  async #read(file: string): Promise<SavedAssignments> {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw damaged(`it is longer than ${MAX_FILE_BYTES} bytes`);
    const json: unknown = JSON.parse(await readFile(file, 'utf8'));
    const saved = savedSchema.safeParse(json);
    if (!saved.success) throw damaged('it is not of the form that this release writes');
    const assignments: Assignment[] = [];
    let unreadable = 0;
    for (const [index, raw] of saved.data.assignments.entries()) {
      const message = assignmentEnvelope.safeParse(raw);
      const read = message.success ? readAssignment(message.data) : null;
      if (read?.ok === true) assignments.push(read.value);
      else unreadable += 1;
      if (index % CHECKS_A_TURN === CHECKS_A_TURN - 1) await nextTurn();
    }
    if (unreadable > 0) {
      this.#options.log.warn(
        { file, checks: unreadable },
        'kept checks cannot be read by this release',
      );
    }
    const { location, settings } = saved.data;
    return { location, settings, assignments };
  }
}

/** One check a line, made bit by bit: checks are running beside it. */
async function* textOf({
  location,
  settings,
  assignments,
}: SavedAssignments): AsyncGenerator<string> {
  yield `{"format":${FORMAT},"location":${JSON.stringify(location)},`;
  yield `"settings":${JSON.stringify(settings)},"assignments":[`;
  for (let from = 0; from < assignments.length; from += CHECKS_A_TURN) {
    const some = assignments.slice(from, from + CHECKS_A_TURN);
    const lines = some.map((one) => JSON.stringify(assignmentMessageOf(one)));
    yield `${from === 0 ? '' : ','}\n${lines.join(',\n')}`;
    await nextTurn();
  }
  yield '\n]}\n';
}

/** For a look; the next one takes its place. */
async function putAside(file: string): Promise<string | null> {
  const aside = `${file}.damaged`;
  try {
    await rename(file, aside);
    return aside;
  } catch {
    return null;
  }
}

function damaged(message: string): VedetteError {
  return new VedetteError('input', 'ASSIGNMENTS_DAMAGED', message);
}
