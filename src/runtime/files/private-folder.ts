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
/** Kubernetes gives a volume with `fsGroup` this way to a group. */
const SHARED_WITH_GROUP = 0o2020;
/** At a start. What is not reached is inside folders that are closed by then. */
const MAX_ENTRIES = 100_000;

/** What a walk has found and done. */
interface Walk {
  entriesLeft: number;
  closed: number;
  /** The first one that others can write and that cannot be closed. */
  writable: string | null;
  /** How many others can only read, and that cannot be closed. */
  readable: number;
}

/**
 * Takes a data folder and what is in it away from other users. The folder itself is only changed
 * where all that is in it is ours: it may be one that others use, too. A folder that is not there
 * is left for whoever makes it.
 *
 * @param names the entries that are ours, also with `.new` behind
 * @throws VedetteError `environment` DATA_DIR_WRITABLE where others can write and that cannot be
 *   changed. For a volume this is only a warning: some are open to all (777) whatever is inside, and
 *   who can get to them is decided where they are mounted
 */
export async function closeDataFolder(
  folder: string,
  names: readonly string[],
  log: Logger,
): Promise<void> {
  // Modes mean nothing there.
  if (process.platform === 'win32') return;
  const entries = await entriesOf(folder);
  if (entries === null) return;
  const ours = new Set(names.flatMap((name) => [name, `${name}.new`]));
  const isOurFolder = entries.every((entry) => ours.has(entry) || entry === 'lost+found');
  const walk = newWalk();
  const root = isOurFolder ? await closeRoot(folder, walk) : await stat(folder);
  const isVolume = await isMounted(folder);
  const refuse = (path: string, found: Stats): void => {
    const problem = writable(folder, path, found);
    if (!isVolume) throw problem;
    log.warn({ folder }, problem.message);
  };
  if (isReplaceable(root)) refuse(folder, root);
  for (const entry of entries) {
    if (ours.has(entry)) await closeEntries(join(folder, entry), walk, false);
  }
  if (walk.closed > 0) {
    log.info(
      { folder, entries: walk.closed },
      'files or folders of DATA_DIR were open to other users: now their owner alone can open them',
    );
  }
  // What nobody else can get to does no harm.
  if ((root.mode & OTHERS_SEARCH) === 0) return;
  if (walk.writable !== null) refuse(walk.writable, await stat(walk.writable));
  if (walk.readable > 0) {
    log.warn(
      { folder, entries: walk.readable },
      'other users can read files in DATA_DIR, and this user may not change that: see that they belong to it, with mode 600',
    );
  }
}

/** Takes a new file or folder, and all below it, away from other users, as far as that is allowed. */
export async function closeToOthers(path: string): Promise<void> {
  await closeEntries(path, newWalk(), true);
}

function newWalk(): Walk {
  return { entriesLeft: MAX_ENTRIES, closed: 0, writable: null, readable: 0 };
}

/** null where it cannot be read: whoever uses it says why. */
async function entriesOf(folder: string): Promise<readonly string[] | null> {
  return await readdir(folder).catch(() => null);
}

async function closeRoot(folder: string, walk: Walk): Promise<Stats> {
  const before = await stat(folder);
  const isShared = (before.mode & SHARED_WITH_GROUP) === SHARED_WITH_GROUP;
  const taken = isShared ? OF_OTHER_USERS & 0o007 : OF_OTHER_USERS;
  if ((before.mode & taken) === 0) return before;
  if (await changeMode(folder, taken, 0)) walk.closed += 1;
  return await stat(folder);
}

/**
 * Whether others can put another file in the place of one of ours. A volume for the group of a pod
 * is open to all (2777) and belongs to root, but only the pod mounts it.
 */
function isReplaceable({ mode, gid }: Stats): boolean {
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return false;
  const isOfOurGroup = gid !== 0 && (process.getgroups?.() ?? []).includes(gid);
  return !((mode & SHARED_WITH_GROUP) === SHARED_WITH_GROUP && isOfOurGroup);
}

/** Whether a file system is mounted right there (proc(5), mountinfo). */
async function isMounted(folder: string): Promise<boolean> {
  try {
    const path = (await realpath(folder)).replaceAll(' ', '\\040');
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    return mounts.split('\n').some((line) => line.split(' ')[4] === path);
  } catch {
    return false;
  }
}

/** @param all also what is inside folders that are closed already */
async function closeEntries(top: string, walk: Walk, all: boolean): Promise<void> {
  const paths = [top];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (walk.entriesLeft === 0) return;
    walk.entriesLeft -= 1;
    // It may be gone by now: others work in the folder, too, such as a replica.
    const found = await lstat(path).catch(() => null);
    if (found === null || !(found.isFile() || found.isDirectory())) continue;
    const isOpen = (found.mode & OF_OTHER_USERS) !== 0;
    if (isOpen) {
      if (await changeMode(path, OF_OTHER_USERS, constants.O_NOFOLLOW)) walk.closed += 1;
      else if ((found.mode & OTHERS_WRITE) !== 0) walk.writable ??= path;
      else if ((found.mode & 0o004) !== 0) walk.readable += 1;
    }
    if (!found.isDirectory() || !(isOpen || all)) continue;
    for (const name of (await entriesOf(path)) ?? []) paths.push(join(path, name));
  }
}

/**
 * Takes the bits away. By a handle, so that nobody can have the mode of another file changed.
 *
 * @returns false where that is refused, or where it has no effect, as on some volumes
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
    `DATA_DIR is ${JSON.stringify(folder)}, where every user can write (${JSON.stringify(path)} has mode ${octal}), and this one may not change that: give the folder to user ${user} with mode 700, or name another one`,
  );
}
