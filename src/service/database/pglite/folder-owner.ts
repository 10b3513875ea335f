import { randomUUID } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { VedetteError } from '../../../runtime/errors.ts';

/** A database has about 1,500 files. */
const MAX_ENTRIES = 100_000;

/**
 * Refuses an existing database of another user to root, before the database is written: that user could not open the
 * files that root would create. Other users have no access anyway. On a mount that gives all files one owner, such as
 * NFS with `root_squash`, root's files belong to that user, too.
 *
 * @param folder the folder that contains the database
 * @throws VedetteError `permission`, one line
 */
export function requireOwner(folder: string): void {
  // Not on Windows.
  if (process.geteuid?.() !== 0) return;
  const found = statOf(join(folder, 'database'));
  if (found === null || found.uid === 0) return;
  const { uid, gid } = found;
  if (ownerOfNewFile(folder) === uid) return;
  throw new VedetteError(
    'permission',
    'STORE_FOLDER_OF_OTHER_USER',
    `the embedded database in ${folder} belongs to user ${uid}, who could no longer open it if root wrote to it: run the command as that user: setpriv --reuid=${uid} --regid=${gid} --clear-groups vedette ... (in a container: --user ${uid}:${gid}; under systemd: docker/README.md, "Commands under systemd")`,
  );
}

/** The first file or folder of a database that this user may not open, with its owner, in words; null if there is none. */
export function forbiddenEntry(database: string): string | null {
  let entriesLeft = MAX_ENTRIES;
  const paths = [database];
  for (let path = paths.pop(); path !== undefined && entriesLeft > 0; path = paths.pop()) {
    entriesLeft -= 1;
    const found = statOf(path);
    if (found === null || !(found.isFile() || found.isDirectory())) continue;
    const names = open(path, found);
    if (names === null) return `${path}, which belongs to user ${found.uid}`;
    for (const name of names) paths.push(join(path, name));
  }
  return null;
}

/** The user to whom a file belongs that this process creates in the folder; null if it cannot create one. */
function ownerOfNewFile(folder: string): number | null {
  const path = join(folder, `.owner-${randomUUID()}`);
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return statOf(path)?.uid ?? null;
  } catch {
    return null;
  } finally {
    rmSync(path, { force: true });
  }
}

/** null if it is missing or a folder above it may not be entered. A link counts as itself. */
function statOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/**
 * Opens a file for reading and writing, and closes it.
 *
 * @returns the names in a folder; null if this user may not open it
 */
function open(path: string, found: Stats): readonly string[] | null {
  try {
    if (found.isDirectory()) return readdirSync(path);
    closeSync(openSync(path, 'r+'));
    return [];
  } catch {
    return null;
  }
}
