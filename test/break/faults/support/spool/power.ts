import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A file under any name; `durable` is the part of its contents that is certainly on disk. */
interface Inode {
  durable: Buffer;
  /** The current path of its contents; null without a name. */
  path: string | null;
  readonly isFolder: boolean;
}

type NameChange = (names: Map<string, Inode>) => void;

/**
 * The durable state of a disk, beside the visible file system: contents up to the last sync of each
 * file, and names up to the last sync of their folder. After a power loss a random part of the
 * later changes survives: contents cut anywhere or ending in zeros, and a prefix of the name
 * changes of a folder, whose order journals preserve.
 */
export class PowerShadow {
  readonly #root: string;
  readonly #names = new Map<string, Inode>();
  readonly #durable = new Map<string, Inode>();
  /** By folder: the name changes since its last sync. */
  readonly #changes = new Map<string, NameChange[]>();

  /** Tracks everything in `root` from now on; it must be empty. */
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

  /** Call it before the call. */
  renaming(from: string, to: string): void {
    const inode = this.#of(from);
    inode.path = to;
    if (inode.isFolder) return;
    this.#change(from, (names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  /** Call it before the call. */
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

  /** Restores what the next start finds. `random` returns numbers in [0, 1). */
  leaveTo(target: string, random: () => number): void {
    mkdirSync(target, { recursive: true });
    for (const changes of this.#changes.values()) {
      const upTo = Math.floor(random() * (changes.length + 1));
      for (const change of changes.slice(0, upTo)) change(this.#durable);
    }
    const byDepth = [...this.#durable].sort(([one], [other]) => one.length - other.length);
    for (const [path, inode] of byDepth) {
      const to = join(target, relative(this.#root, path));
      // The contents of a folder are lost if its own name is not on disk.
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
    // The scenario put it there durably.
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
  // The file grew before its bytes were written.
  return Buffer.concat([cut, Buffer.alloc(now.length - upTo)]);
}
