import {
  mkdirSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import type { Logger } from '../../runtime/logger.ts';
import { errorReportSchema, errorsRequestSchema } from '../../wire/v1/error-report.ts';
import { type ErrorReport, keyOfReport } from './fault.ts';

const senderSchema = errorsRequestSchema.pick({
  version: true,
  node: true,
  platform: true,
  arch: true,
});
/** The process in which an error was thrown. The one that reports it may be of another release. */
export type CrashedProcess = z.output<typeof senderSchema>;

const crashSchema = z.object({ sender: senderSchema, report: errorReportSchema });
export type Crash = z.output<typeof crashSchema>;

const FORMAT = 1;
const fileSchema = z.object({ format: z.literal(FORMAT), crashes: z.array(crashSchema) });

const MAX_CRASHES = 20;
const MAX_FILE_BYTES = 1024 * 1024;

const NAME = 'crash-reports.json';

export interface CrashFileOptions {
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * The errors that ended this process and earlier ones, until the service has taken them:
 * DATA_DIR/crash-reports.json.
 */
export class CrashFile {
  readonly #file: string;
  readonly #options: CrashFileOptions;
  /** Null until the file was read. */
  #crashes: readonly Crash[] | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: CrashFileOptions) {
    this.#options = options;
    this.#file = join(options.dataDir, NAME);
  }

  /** Oldest first; those of earlier processes once they are read. */
  get crashes(): readonly Crash[] {
    return this.#crashes ?? [];
  }

  /** Resolves when all changes so far are on disk. Never rejects. */
  get written(): Promise<void> {
    return this.#writing;
  }

  /** Reads the crashes of earlier processes. Removes a damaged file. */
  async read(): Promise<void> {
    let left: readonly Crash[];
    try {
      const isUsable = isReadable(await stat(this.#file));
      left = this.#readable(crashesIn(isUsable ? await readFile(this.#file, 'utf8') : ''));
    } catch (error) {
      this.#crashes ??= [];
      this.#cannot('read', error);
      return;
    }
    // A crash meanwhile has read the file already.
    this.#crashes ??= left;
    if (left.length === 0) await this.#write();
  }

  /** Writes a crash synchronously, since the process is about to end. Never throws. */
  add(crash: Crash): void {
    const { dataDir } = this.#options;
    this.#crashes = merged([...(this.#crashes ?? this.#readNow()), crash]);
    const next = `${this.#file}.crash`;
    try {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      writeFileSync(next, textOf(this.#crashes), { mode: 0o600 });
      renameSync(next, this.#file);
    } catch (error) {
      this.#cannot('written', error);
      try {
        unlinkSync(next);
      } catch {
        // It was not created, or the disk refuses this as well.
      }
    }
  }

  /** Removes crashes that the service has accepted or permanently refused. */
  async forget(settled: readonly Crash[]): Promise<void> {
    this.#crashes = this.crashes.filter((crash) => !settled.includes(crash));
    await this.#write();
  }

  #readNow(): readonly Crash[] {
    try {
      const isUsable = isReadable(statSync(this.#file));
      return this.#readable(crashesIn(isUsable ? readFileSync(this.#file, 'utf8') : ''));
    } catch (error) {
      this.#cannot('read', error);
      return [];
    }
  }

  #readable(crashes: readonly Crash[] | null): readonly Crash[] {
    if (crashes !== null) return crashes;
    this.#options.log.debug({ file: this.#file }, 'crash reports from before are damaged');
    return [];
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeOnce());
    return this.#writing;
  }

  /** Repeats until the file has the current crashes: one may be added meanwhile. */
  async #writeOnce(): Promise<void> {
    let crashes: readonly Crash[];
    do {
      crashes = this.crashes;
      try {
        if (crashes.length === 0) await removeFile(this.#file);
        else await replaceFile(this.#file, textOf(crashes), { durable: false });
      } catch (error) {
        this.#cannot('written', error);
      }
    } while (crashes !== this.crashes);
  }

  #cannot(what: 'read' | 'written', error: unknown): void {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' && what === 'read') return;
    this.#options.log.debug({ file: this.#file, code }, `crash reports cannot be ${what}`);
  }
}

/** Removes the crashes of earlier processes, for an agent that reports nothing. */
export async function removeCrashReports({ dataDir, log }: CrashFileOptions): Promise<void> {
  const file = join(dataDir, NAME);
  try {
    await removeFile(file);
  } catch (error) {
    log.debug({ file, code: systemCodeOf(error) }, 'crash reports cannot be removed');
  }
}

async function removeFile(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** Reading a pipe would wait until somebody writes to it. */
function isReadable(file: Stats): boolean {
  return file.isFile() && file.size <= MAX_FILE_BYTES;
}

/** Null if the text is damaged. */
function crashesIn(text: string): readonly Crash[] | null {
  try {
    return fileSchema.parse(JSON.parse(text)).crashes;
  } catch {
    return null;
  }
}

function textOf(crashes: readonly Crash[]): string {
  return `${JSON.stringify({ format: FORMAT, crashes })}\n`;
}

/** Counts a crash that repeats at each start as one kind, and retains the latest kinds. */
function merged(crashes: readonly Crash[]): readonly Crash[] {
  const kinds = new Map<string, Crash>();
  for (const { sender, report } of crashes) {
    const key = JSON.stringify([sender, keyOfReport(report)]);
    const known = kinds.get(key)?.report;
    kinds.delete(key);
    kinds.set(key, { sender, report: known === undefined ? report : together(known, report) });
  }
  return [...kinds.values()].slice(-MAX_CRASHES);
}

function together(one: ErrorReport, other: ErrorReport): ErrorReport {
  return {
    ...other,
    count: one.count + other.count,
    firstAt: Math.min(one.firstAt, other.firstAt),
    lastAt: Math.max(one.lastAt, other.lastAt),
  };
}
