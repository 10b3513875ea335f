import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import type { FileSystem, OpenFile } from '../../../../../src/runtime/files/file-system.ts';
import type { PowerShadow } from './power.ts';

/** The fault of one call. `die`: no call is answered afterwards. */
export type Fault =
  | { readonly kind: 'fail'; readonly code: string; readonly done: 'nothing' | 'half' | 'all' }
  | { readonly kind: 'stall'; readonly code: string | null }
  | { readonly kind: 'short' }
  | { readonly kind: 'die'; readonly done: 'nothing' | 'half' | 'all' };

export interface DiskCall {
  /** `write main.seg`: the method, and the kind of file. */
  readonly name: string;
  readonly method: string;
  /** `segment-log.ts:92`, if sites are recorded. */
  readonly site: string | null;
}

export interface PlannedFault {
  /** The number of the call, or a name: then its first call. */
  readonly at: number | string;
  readonly fault: Fault;
}

interface Act<T> {
  readonly all: () => T;
  /** Does half of a read or a write. */
  readonly half?: () => T;
  /** Cleans up a result that nobody gets: an open file. */
  readonly undo?: (value: T) => void;
}

const NEVER = new Promise<never>(() => {});

/** An error like one of the system. */
export function systemError(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: made by the test, ${name}`), { code });
}

/**
 * The real file system behind the port. Each call runs at once and is answered in a later event
 * loop iteration, so that the calls of a run are the same each time and one of them can fail. The
 * scenario can also refuse writes for any time.
 */
export class FaultyDisk implements FileSystem {
  readonly calls: DiskCall[] = [];
  /** Refuses the calls with these names, with this code, after half of each write. */
  refuses: { readonly code: string; readonly names: Pick<RegExp, 'test'> } | null = null;
  readonly #shadow: PowerShadow | null;
  readonly #takesSites: boolean;
  readonly #fault: PlannedFault | null;
  readonly #open = new Set<number>();
  #release: (() => void) | null = null;
  #busy = 0;
  #isDead: boolean = false;
  #fired: DiskCall | null = null;

  constructor(options: {
    readonly fault?: PlannedFault | null;
    readonly shadow?: PowerShadow | null;
    readonly takesSites?: boolean;
  }) {
    this.#fault = options.fault ?? null;
    this.#shadow = options.shadow ?? null;
    this.#takesSites = options.takesSites ?? false;
  }

  /** Calls that will be answered without help. */
  get busy(): number {
    return this.#busy;
  }

  get isStalled(): boolean {
    return this.#release !== null;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The call that had the fault; null before it. */
  get fired(): DiskCall | null {
    return this.#fired;
  }

  get openFiles(): number {
    return this.#open.size;
  }

  /** Releases the stalled call. */
  release(): void {
    this.#release?.();
    this.#release = null;
  }

  /** The end of a process: the system closes its files and releases the lock. */
  kill(): void {
    this.#isDead = true;
    for (const fd of this.#open) closeSync(fd);
    this.#open.clear();
  }

  open(path: string, flags: string, mode?: number): Promise<OpenFile> {
    return this.#call('open', path, {
      all: () => {
        const isNew = !existsSync(path);
        const fd = openSync(path, flags, mode);
        this.#open.add(fd);
        this.#shadow?.opened(path, { isNew, isCut: flags !== 'r' });
        return this.#file(fd, path);
      },
      undo: ({ fd }) => this.#closed(fd),
    });
  }

  mkdir(
    path: string,
    options: { readonly recursive?: boolean; readonly mode: number },
  ): Promise<string | undefined> {
    return this.#call('mkdir', path, {
      all: () => {
        const missing: string[] = [];
        for (let each = path; !existsSync(each); each = dirname(each)) missing.unshift(each);
        const made = mkdirSync(path, options);
        for (const each of missing) this.#shadow?.madeFolder(each);
        return made;
      },
    });
  }

  readdir(path: string): Promise<string[]> {
    return this.#call('readdir', path, { all: () => readdirSync(path) });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call('rename', from, {
      all: () => {
        this.#shadow?.renaming(from, to);
        renameSync(from, to);
      },
    });
  }

  unlink(path: string): Promise<void> {
    return this.#call('unlink', path, {
      all: () => {
        this.#shadow?.unlinking(path);
        unlinkSync(path);
      },
    });
  }

  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }> {
    return this.#call('stat', path, { all: () => statSync(path) });
  }

  #file(fd: number, path: string): OpenFile {
    const read = (buffer: Uint8Array, offset: number, length: number, at: number) => ({
      bytesRead: readSync(fd, buffer, offset, length, at),
    });
    const write = (buffer: Uint8Array, offset: number, length: number, at: number) => ({
      bytesWritten: writeSync(fd, buffer, offset, length, at),
    });
    const sync = (): void => {
      // A real sync has no visible effect in a test; the shadow records it.
      fstatSync(fd);
      this.#shadow?.synced(path);
    };
    return {
      fd,
      read: (buffer, offset, length, at) =>
        this.#call('read', path, {
          all: () => read(buffer, offset, length, at),
          half: () => read(buffer, offset, Math.ceil(length / 2), at),
        }),
      write: (buffer, offset, length, at) =>
        this.#call('write', path, {
          all: () => write(buffer, offset, length, at),
          half: () => write(buffer, offset, Math.ceil(length / 2), at),
        }),
      datasync: () => this.#call('datasync', path, { all: () => sync() }),
      sync: () => this.#call('sync', path, { all: () => sync() }),
      truncate: (bytes) =>
        this.#call('truncate', path, {
          all: () => {
            ftruncateSync(fd, bytes);
            this.#shadow?.truncated(path, bytes);
          },
        }),
      stat: () => this.#call('file stat', path, { all: () => fstatSync(fd) }),
      close: () =>
        this.#call('close', path, {
          all: () => this.#closed(fd),
        }),
    };
  }

  #closed(fd: number): void {
    closeSync(fd);
    this.#open.delete(fd);
  }

  async #call<T>(method: string, path: string, act: Act<T>): Promise<T> {
    if (this.#isDead) return NEVER;
    const name = `${method} ${kindOf(path)}`;
    const at = this.#fault?.at;
    const isChosen = this.#fired === null && (at === this.calls.length || at === name);
    const site = this.#takesSites || isChosen ? siteOf(new Error().stack) : null;
    const call = { name, method, site };
    this.calls.push(call);
    if (isChosen) this.#fired = call;
    const fault = isChosen ? (this.#fault?.fault ?? null) : this.#refusal(call);
    this.#busy += 1;
    try {
      return await this.#answer(call, act, fault);
    } finally {
      this.#busy -= 1;
    }
  }

  #refusal({ name, method }: DiskCall): Fault | null {
    if (this.refuses === null || !this.refuses.names.test(name)) return null;
    const done = method === 'write' ? 'half' : 'nothing';
    return { kind: 'fail', code: this.refuses.code, done };
  }

  async #answer<T>(call: DiskCall, { all, half, undo }: Act<T>, fault: Fault | null): Promise<T> {
    if (fault?.kind === 'stall') {
      this.#busy -= 1;
      await new Promise<void>((resolve) => {
        this.#release = resolve;
      });
      this.#busy += 1;
      if (fault.code !== null) throw systemError(fault.code, call.name);
    }
    if (fault?.kind === 'short') return await later((half ?? all)());
    if (fault?.kind === 'fail' || fault?.kind === 'die') {
      // The call may be impossible anyway.
      const act = fault.done === 'half' && half !== undefined ? half : all;
      const done = fault.done === 'nothing' ? null : resultOf(act);
      if (fault.kind === 'die') {
        this.kill();
        return NEVER;
      }
      await later(null);
      if (done?.ok) undo?.(done.value);
      throw systemError(fault.code, call.name);
    }
    const result = resultOf(all);
    await later(null);
    if (this.#isDead) return NEVER;
    if (!result.ok) throw result.error;
    return result.value;
  }
}

function resultOf<T>(
  act: () => T,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown } {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** In the next event loop iteration, like an answer of the system. */
function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setImmediate(() => resolve(value)));
}

/** Removes numbers and ids, to leave the kind of file. */
function kindOf(path: string): string {
  const name = basename(path);
  return name.replace(/-\d{16}/, '').replace(/[0-9a-f-]{36}/, 'artifact');
}

/** Read and write whole buffers, for many callers. */
const SHARED_CALLS = /\b(?:readFully|writeFully)\b/;

/** The calling line of the product, as `agent/spool/disk/segment-log.ts:92`. */
function siteOf(stack = ''): string | null {
  const line = stack
    .split('\n')
    .find(
      (each) =>
        /\/src\/(?:agent\/(?:spool|upload|service-client)|runtime\/files)\//.test(each) &&
        !SHARED_CALLS.test(each),
    );
  const found = /\/src\/([\w/-]+\.ts):(\d+):/.exec(line ?? '');
  return found === null ? null : `${found[1]}:${found[2]}`;
}
