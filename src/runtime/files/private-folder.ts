import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VedetteError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Bits of a mode (chmod(2)). */
const OF_OTHER_USERS = 0o077;
const OTHERS_WRITE = 0o002;
const OTHERS_SEARCH = 0o001;
const STICKY = 0o1000;
/** Kubernetes sets this on a volume with `fsGroup`. */
const SHARED_WITH_GROUP = 0o2020;
/** The most entries to visit at a start. Further entries are inside folders that are restricted by then. */
const MAX_ENTRIES = 100_000;

interface Walk {
  entriesLeft: number;
  restricted: number;
  /** The first entry that others can write and that cannot be restricted. */
  writable: string | null;
  /** The number of entries that others can only read and that cannot be restricted. */
  readable: number;
}

/**
 * Restricts a data folder and its entries to their owner. Changes the folder itself only if all entries
 * belong to Vedette: other programs may use it, too. Ignores a missing folder.
 *
 * @param names the entries of Vedette, also with the suffix `.new`
 * @throws VedetteError `environment` DATA_DIR_WRITABLE if others can write and that cannot be
 *   changed. For a volume this is only a warning: some always have mode 777, and their mount
 *   decides who has access
 */
export async function restrictDataFolder(
  folder: string,
  names: readonly string[],
  log: Logger,
): Promise<void> {
  // Windows does not use modes.
  if (process.platform === 'win32') return;
  const entries = await entriesOf(folder);
  if (entries === null) return;
  const ours = new Set(names.flatMap((name) => [name, `${name}.new`]));
  const isOurFolder = entries.every((entry) => ours.has(entry) || entry === 'lost+found');
  const walk = newWalk();
  const root = isOurFolder ? await restrictRoot(folder, walk) : await stat(folder);
  const isVolume = await isMounted(folder);
  const refuse = (path: string, found: Stats): void => {
    const problem = writable(folder, path, found);
    if (!isVolume) throw problem;
    log.warn({ folder }, problem.message);
  };
  if (isReplaceable(root)) refuse(folder, root);
  for (const entry of entries) {
    if (ours.has(entry)) await restrictEntries(join(folder, entry), walk, false);
  }
  if (walk.restricted > 0) {
    log.info(
      { folder, entries: walk.restricted },
      'files or folders of DATA_DIR were open to other users: now only their owner can open them',
    );
  }
  // Nobody else can enter the folder.
  if ((root.mode & OTHERS_SEARCH) === 0) return;
  if (walk.writable !== null) refuse(walk.writable, await stat(walk.writable));
  if (walk.readable > 0) {
    log.warn(
      { folder, entries: walk.readable },
      'other users can read files in DATA_DIR, and this user may not change that: make this user their owner, with mode 600',
    );
  }
}

/** Restricts a new file or folder, with all its entries, to its owner, as far as that is allowed. */
export async function restrictToOwner(path: string): Promise<void> {
  await restrictEntries(path, newWalk(), true);
}

function newWalk(): Walk {
  return { entriesLeft: MAX_ENTRIES, restricted: 0, writable: null, readable: 0 };
}

/** null if it cannot be read. */
async function entriesOf(folder: string): Promise<readonly string[] | null> {
  return await readdir(folder).catch(() => null);
}

async function restrictRoot(folder: string, walk: Walk): Promise<Stats> {
  const before = await stat(folder);
  const isShared = (before.mode & SHARED_WITH_GROUP) === SHARED_WITH_GROUP;
  const taken = isShared ? OF_OTHER_USERS & 0o007 : OF_OTHER_USERS;
  if ((before.mode & taken) === 0) return before;
  if (await changeMode(folder, taken, 0)) walk.restricted += 1;
  return await stat(folder);
}

/**
 * Whether others can replace a file of Vedette. A volume for the group of a pod has mode 2777 and
 * belongs to root, but only the pod mounts it.
 */
function isReplaceable({ mode, gid }: Stats): boolean {
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return false;
  const isOfOurGroup = gid !== 0 && (process.getgroups?.() ?? []).includes(gid);
  return !((mode & SHARED_WITH_GROUP) === SHARED_WITH_GROUP && isOfOurGroup);
}

/** Whether the folder is a mount point (proc(5), mountinfo). */
async function isMounted(folder: string): Promise<boolean> {
  try {
    const path = (await realpath(folder)).replaceAll(' ', '\\040');
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    return mounts.split('\n').some((line) => line.split(' ')[4] === path);
  } catch {
    return false;
  }
}

/** @param all also the entries of folders that are restricted already */
async function restrictEntries(top: string, walk: Walk, all: boolean): Promise<void> {
  const paths = [top];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (walk.entriesLeft === 0) return;
    walk.entriesLeft -= 1;
    // Another process, such as a replica, may have removed it.
    const found = await lstat(path).catch(() => null);
    if (found === null || !(found.isFile() || found.isDirectory())) continue;
    const isOpen = (found.mode & OF_OTHER_USERS) !== 0;
    if (isOpen) {
      if (await changeMode(path, OF_OTHER_USERS, constants.O_NOFOLLOW)) walk.restricted += 1;
      else if ((found.mode & OTHERS_WRITE) !== 0) walk.writable ??= path;
      else if ((found.mode & 0o004) !== 0) walk.readable += 1;
    }
    if (!found.isDirectory() || !(isOpen || all)) continue;
    for (const name of (await entriesOf(path)) ?? []) paths.push(join(path, name));
  }
}

/**
 * Removes bits of the mode, by a handle, so that nobody can redirect the change to another file.
 *
 * @returns false if that is refused or has no effect, as on some volumes
 */
async function changeMode(path: string, taken: number, flags: number): Promise<boolean> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    try {
      const { mode } = await handle.stat();
      await handle.chmod(mode & 0o7777 & ~taken);
      return ((await handle.stat()).mode & taken) === 0;
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}

function writable(folder: string, path: string, { mode }: Stats): VedetteError {
  const user = process.geteuid?.() ?? 'that runs this';
  const octal = (mode & 0o7777).toString(8);
  return new VedetteError(
    'environment',
    'DATA_DIR_WRITABLE',
    `DATA_DIR is ${JSON.stringify(folder)}, where every user can write (${JSON.stringify(path)} has mode ${octal}), and this user may not change that: make user ${user} the owner of the folder, with mode 700, or use another folder`,
  );
}
