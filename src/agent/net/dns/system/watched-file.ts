import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { Clock } from '../../../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../../../runtime/errors.ts';

export interface FileView<T> {
  readonly value: T;
  /** Why the file's content is not used, or not all of it; null without a problem. */
  readonly problem: string | null;
}

const RECHECK_MS = 1000;

/**
 * Watches a small system file and reads it again when it changes. Reads synchronously, because
 * libuv's pool could delay it behind a slow getaddrinfo: at most one stat per second of a local
 * file of bounded size, or one per call while the file is missing or empty. A missing file counts
 * as empty; for an unreadable file, the last content is used.
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
    // Only a regular file: a pipe or device could block the whole agent.
    const sizeBytes = stat?.isFile() === true ? stat.size : null;
    const seen = sizeBytes === null ? 'none' : `${stat?.mtimeMs} ${sizeBytes} ${stat?.ino}`;
    // A writer may be replacing it: it would count as empty until the next check.
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

/** null if there is none. Node's own option also returns that for unreachable files (Node 24). */
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
