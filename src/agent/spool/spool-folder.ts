import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { lockFolder } from './folder-lock.ts';

const SEGMENT_NAME = /^(main|spare)-(\d{16})\.seg$/;
const ASIDE_NAME = /^damaged-.*\.seg$/;
/** Damaged files kept for a look. */
const MAX_ASIDE = 4;
/** What a full disk answers. Time heals it, so it is no reason not to start. */
const FULL: ReadonlySet<string | null> = new Set(['ENOSPC', 'EDQUOT']);

export interface FoundFile {
  readonly path: string;
  readonly log: string;
  /** Of its first frame. */
  readonly number: number;
}

/** The spool's folder, held for this process alone until it is closed. */
export interface SpoolFolder {
  readonly path: string;
  readonly log: Logger;
  file(log: string, firstNumber: number): string;
  /** Files of the logs, oldest first in each. */
  files(): Promise<readonly FoundFile[]>;
  /** Puts the names of new files on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes DATA_DIR/spool where it is missing, and takes it for this process. A full disk is let
 * pass, anything else that keeps the spool from writing is not.
 *
 * @throws VedetteError of kind `environment` and code DATA_DIR_IN_USE, or `config` and DATA_DIR_UNUSABLE
 */
export async function openSpoolFolder(dataDir: string, log: Logger): Promise<SpoolFolder> {
  const path = join(dataDir, 'spool');
  let handle: FileHandle | null = null;
  try {
    await makeFolder(path);
    handle = await open(path, 'r');
    await lockFolder(handle, dataDir, log);
    await tryToWrite(path);
  } catch (error) {
    await handle?.close();
    if (error instanceof VedetteError) throw error;
    throw new VedetteError(
      'config',
      'DATA_DIR_UNUSABLE',
      `DATA_DIR is ${JSON.stringify(dataDir)}, where results cannot be kept (${messageOf(error)}): name a folder that the agent may write to, or unset it to keep results in memory`,
      { cause: error },
    );
  }
  const held = handle;
  return {
    path,
    log,
    file: (name, firstNumber) =>
      join(path, `${name}-${firstNumber.toString().padStart(16, '0')}.seg`),
    files: () => findFiles(path, log),
    sync: () => held.sync(),
    close: () => held.close(),
  };
}

export function isDiskFull(error: unknown): boolean {
  return FULL.has(systemCodeOf(error));
}

/** Where a damaged file goes. */
export function asidePath(folder: string, path: string): string {
  return join(folder, `damaged-${basename(path)}`);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'EEXIST') return;
    // Only where parents are missing: the recursive form calls a read-only mount ENOENT.
    if (code !== 'ENOENT') throw error;
    await mkdir(path, { recursive: true, mode: 0o700 });
  }
}

/** Rights, a read-only mount and the like show only in a real attempt. */
async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, 'probe');
  try {
    const handle = await open(path, 'w', 0o600);
    await handle.close();
    await unlink(path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function findFiles(folder: string, log: Logger): Promise<FoundFile[]> {
  const names = (await readdir(folder)).sort();
  const tooMany = names.filter((name) => ASIDE_NAME.test(name)).slice(0, -MAX_ASIDE);
  for (const name of tooMany) {
    log.warn({ file: join(folder, name) }, 'an old damaged file of the spool is taken away');
    await unlink(join(folder, name)).catch(() => {});
  }
  return names.flatMap((name) => {
    const [, logName, number] = SEGMENT_NAME.exec(name) ?? [];
    if (logName === undefined) return [];
    return [{ path: join(folder, name), log: logName, number: Number(number) }];
  });
}
