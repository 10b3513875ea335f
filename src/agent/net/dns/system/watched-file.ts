import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { Clock } from '../../../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../../../runtime/errors.ts';

export interface FileView<T> {
  readonly value: T;
  /** Why what the file says does not hold, or not wholly; null where all is well. */
  readonly problem: string | null;
}

/** The file is looked at again after this long at the earliest. */
const RECHECK_MS = 1000;

/**
 * A small file of the system that is read again when it changes. Read at once, not through
 * libuv's pool, where it could wait behind a slow getaddrinfo; it is one stat a second, of a local
 * file whose size is bounded. A file that is not there counts as empty; one that cannot be
 * read keeps its last content.
 */
export function watchFile<T>(
  path: string,
  options: { readonly clock: Clock; readonly maxBytes: number },
  parse: (text: string) => T,
): () => FileView<T> {
  const { clock, maxBytes } = options;
  let view: FileView<T> = { value: parse(''), problem: null };
  let version = '';
  let checkedMs = Number.NEGATIVE_INFINITY;

  const reread = (): void => {
    const stat = statIfThere(path);
    // Only a plain file: a pipe or device would hold up the whole agent.
    const sizeBytes = stat?.isFile() === true ? stat.size : null;
    const seen = sizeBytes === null ? 'none' : `${stat?.mtimeMs} ${sizeBytes} ${stat?.ino}`;
    // It may just be being written anew, and would count as empty until the next look.
    if (sizeBytes === null || sizeBytes === 0) checkedMs = Number.NEGATIVE_INFINITY;
    if (seen === version) return;
    const text = sizeBytes === null ? '' : readBeginning(path, Math.min(sizeBytes, maxBytes));
    const problem =
      (sizeBytes ?? 0) > maxBytes
        ? `${path} is longer than ${maxBytes} bytes; what comes after them is not used`
        : null;
    view = { value: parse(text), problem };
    version = seen;
  };

  return () => {
    if (clock.monotonicMs() - checkedMs < RECHECK_MS) return view;
    checkedMs = clock.monotonicMs();
    try {
      reread();
    } catch (error) {
      version = '';
      const why = systemCodeOf(error) ?? messageOf(error);
      view = { ...view, problem: `${path} cannot be read (${why}); its last content is used` };
    }
    return view;
  };
}

/** Null where there is none. Node's own option for that says so of unreachable files too (Node 24). */
function statIfThere(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function readBeginning(path: string, maxBytes: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, maxBytes, 0));
  } finally {
    closeSync(file);
  }
}
