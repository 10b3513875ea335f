import { join } from 'node:path';
import { messageOf, systemCodeOf, VedetteError } from '../../../runtime/errors.ts';
import { makeDurableFolder } from '../../../runtime/files/durable-folder.ts';
import {
  closeQuietly,
  type FileSystem,
  type OpenFile,
} from '../../../runtime/files/file-system.ts';
import { tryFlock } from '../../../runtime/files/flock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { deleteOldAside } from './damaged-files.ts';

const FILE_NAME = /^(main|spare)-(\d{16})\.(seg|manifest)$/;
/** Errors of a full disk. It may get room later: the agent starts. */
const FULL: ReadonlySet<string | null> = new Set(['ENOSPC', 'EDQUOT']);

export interface FoundFile {
  readonly path: string;
  readonly type: 'segment' | 'manifest';
  readonly log: string;
  /** Number of its first frame, unless somebody renamed the file. */
  readonly number: number;
}

/** The spool's folder, locked for this process until it is closed. */
export interface SpoolFolder {
  readonly path: string;
  readonly disk: FileSystem;
  readonly log: Logger;
  file(log: string, firstNumber: number): string;
  /** Files of the logs, oldest first in each. @throws VedetteError of code DATA_DIR_UNUSABLE */
  files(): Promise<readonly FoundFile[]>;
  /** Returns when the names of new files are on disk. */
  sync(): Promise<void>;
  /** Never throws: the lock ends with the process at the latest. */
  close(): Promise<void>;
}

/**
 * Creates DATA_DIR/spool if it is missing, and locks it for this process. Ignores a full disk, and
 * fails if the spool cannot be written for any other reason.
 *
 * @throws VedetteError of kind `environment` and code DATA_DIR_IN_USE, or `config` and
 *   DATA_DIR_UNUSABLE
 */
export async function openSpoolFolder(
  dataDir: string,
  disk: FileSystem,
  log: Logger,
): Promise<SpoolFolder> {
  const path = join(dataDir, 'spool');
  let handle: OpenFile | null = null;
  try {
    await makeDurableFolder(path, disk);
    handle = await disk.open(path, 'r');
    await lockFolder(handle, dataDir, log);
    await probeFolder(path, disk);
  } catch (error) {
    await closeQuietly(handle);
    throw error instanceof VedetteError ? error : unusable(dataDir, error);
  }
  const held = handle;
  return {
    path,
    disk,
    log,
    file: (name, firstNumber) =>
      join(path, `${name}-${firstNumber.toString().padStart(16, '0')}.seg`),
    async files() {
      try {
        return await findFiles(path, disk, log);
      } catch (error) {
        throw unusable(dataDir, error);
      }
    },
    sync: () => held.sync(),
    close: () => closeQuietly(held),
  };
}

export function isDiskFull(error: unknown): boolean {
  return FULL.has(systemCodeOf(error));
}

export function manifestPath(segmentPath: string): string {
  return segmentPath.replace(/\.seg$/, '.manifest');
}

export function segmentPath(ofManifest: string): string {
  return ofManifest.replace(/\.manifest$/, '.seg');
}

export function unusableFile(path: string, code: string | null, cause: unknown): VedetteError {
  return new VedetteError(
    'config',
    'DATA_DIR_UNUSABLE',
    `the spool's file ${path} cannot be read or replaced (${code ?? 'unknown error'}): give the agent the right to, or name another folder in DATA_DIR`,
    { cause },
  );
}

function unusable(dataDir: string, error: unknown): VedetteError {
  return new VedetteError(
    'config',
    'DATA_DIR_UNUSABLE',
    `DATA_DIR is ${JSON.stringify(dataDir)}, where results cannot be kept (${messageOf(error)}): name a folder that the agent may write to, or unset it to keep results in memory`,
    { cause: error },
  );
}

/**
 * Locks the folder for this process until the handle is closed. Warns if it cannot be locked.
 *
 * @throws VedetteError of kind `environment` and code DATA_DIR_IN_USE if another process has it
 */
async function lockFolder(
  handle: Pick<OpenFile, 'fd'>,
  dataDir: string,
  log: Logger,
): Promise<void> {
  const lock = await tryFlock(handle.fd);
  if (lock.state === 'locked') return;
  if (lock.state === 'held') {
    throw new VedetteError(
      'environment',
      'DATA_DIR_IN_USE',
      `DATA_DIR is ${JSON.stringify(dataDir)}, which another agent uses: give each agent its own folder`,
    );
  }
  log.warn(
    { reason: lock.reason },
    'the folder of DATA_DIR cannot be locked here: make sure that only one agent uses it',
  );
}

/** Writes a file: nothing else shows missing rights or a read-only mount. */
async function probeFolder(folder: string, disk: FileSystem): Promise<void> {
  const path = join(folder, 'probe');
  try {
    const handle = await disk.open(path, 'w', 0o600);
    await handle.close();
    await disk.unlink(path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function findFiles(folder: string, disk: FileSystem, log: Logger): Promise<FoundFile[]> {
  const names = (await disk.readdir(folder)).sort((one, other) => (one < other ? -1 : 1));
  await deleteOldAside(folder, names, { disk, log });
  return names.flatMap((name) => {
    const [, logName, number, ending] = FILE_NAME.exec(name) ?? [];
    if (logName === undefined) return [];
    const type = ending === 'seg' ? 'segment' : 'manifest';
    return [{ path: join(folder, name), type, log: logName, number: Number(number) }];
  });
}
