import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A file by whatever name; `durable` is what of its contents is on disk for sure. */
interface Inode {
  durable: Buffer;
  /** Where its contents are now; null once it has no name. */
  path: string | null;
  readonly isFolder: boolean;
}

type NameChange = (names: Map<string, Inode>) => void;

/**
 * What a disk holds for sure, beside what the file system shows: the contents up to the last sync
 * of each file, and the names up to the last sync of their folder. Where the power goes, a random part
 * of what came after is there: contents cut anywhere or with zeros to their end, and of the changes of
 * names in a folder those up to any of them, in their order, which journals keep.
 */
export class PowerShadow {
  readonly #root: string;
  readonly #names = new Map<string, Inode>();
  readonly #durable = new Map<string, Inode>();
  /** By folder: what was done since its last sync. */
  readonly #changes = new Map<string, NameChange[]>();

  /** All in `root` counts from now on; nothing may be there yet. */
  constructor(root: string) {
    this.#root = root;
  }

  opened(path: string, { isNew, isCut }: { isNew: boolean; isCut: boolean }): void {
    if (isNew) this.#add(path, false);
    else if (isCut) this.truncated(path, 0);
  }

  madeFolder(path: string): void {
    this.#add(path, true);
  }

  /** Before it is. */
  renaming(from: string, to: string): void {
    const inode = this.#of(from);
    inode.path = to;
    if (inode.isFolder) return;
    this.#change(from, (names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  /** Before it is. */
  unlinking(path: string): void {
    this.#of(path).path = null;
    this.#change(path, (names) => names.delete(path));
  }

  truncated(path: string, bytes: number): void {
    const inode = this.#of(path);
    inode.durable = inode.durable.subarray(0, bytes);
  }

  synced(path: string): void {
    const inode = this.#names.get(path);
    if (inode !== undefined && !inode.isFolder) {
      inode.durable = readFileSync(path);
      return;
    }
    for (const change of this.#changes.get(path) ?? []) change(this.#durable);
    this.#changes.delete(path);
  }

  /** Puts there what another start finds. `random` gives numbers from 0 to under 1. */
  leaveTo(target: string, random: () => number): void {
    mkdirSync(target, { recursive: true });
    for (const changes of this.#changes.values()) {
      const upTo = Math.floor(random() * (changes.length + 1));
      for (const change of changes.slice(0, upTo)) change(this.#durable);
    }
    const byDepth = [...this.#durable].sort(([one], [other]) => one.length - other.length);
    for (const [path, inode] of byDepth) {
      const to = join(target, relative(this.#root, path));
      // What is in a folder whose own name is not on disk is lost with it.
      if (this.#names.has(dirname(path)) && !existsSync(dirname(to))) continue;
      mkdirSync(dirname(to), { recursive: true });
      if (inode.isFolder) mkdirSync(to, { mode: 0o700 });
      else writeFileSync(to, contentsLeft(inode, random));
    }
  }

  #add(path: string, isFolder: boolean): void {
    const inode: Inode = { durable: Buffer.alloc(0), path, isFolder };
    this.#change(path, (names) => names.set(path, inode));
  }

  #of(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode !== undefined) return inode;
    // The scenario put it there, and for good.
    const isFolder = statSync(path).isDirectory();
    const planted = { durable: isFolder ? Buffer.alloc(0) : readFileSync(path), path, isFolder };
    this.#names.set(path, planted);
    this.#durable.set(path, planted);
    return planted;
  }

  #change(path: string, change: NameChange): void {
    change(this.#names);
    const folder = dirname(path);
    this.#changes.set(folder, [...(this.#changes.get(folder) ?? []), change]);
  }
}

function contentsLeft({ durable, path }: Inode, random: () => number): Buffer {
  if (path === null || !existsSync(path) || statSync(path).size <= durable.length) return durable;
  const now = readFileSync(path);
  const upTo = durable.length + Math.floor(random() * (now.length - durable.length + 1));
  const cut = now.subarray(0, upTo);
  if (random() < 0.5) return cut;
  // The file grew before its bytes were there.
  return Buffer.concat([cut, Buffer.alloc(now.length - upTo)]);
}
