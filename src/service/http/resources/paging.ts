import type { PageEntry } from '../../database/page-entries.ts';

/**
 * A part of a list. Both count from 1; the limit is at most 100 (src/model/README.md, "Fields of
 * every check").
 */
export interface Page {
  readonly limit: number;
  readonly page: number;
}

/** How the store takes it. */
export function rangeOf({ limit, page }: Page): {
  readonly limit: number;
  readonly offset: number;
} {
  return { limit, offset: (page - 1) * limit };
}

/** A few hundred checks of the usual length, or one of the longest. */
const SLICE_BYTES = 4 * 1024 * 1024;

/**
 * Reads the entries of a page a few at a time, the next when somebody wants them: however long they
 * are, no more are held at once.
 *
 * @param read gives those of these ids that there are still
 */
export async function* inSlices<Id, Stored>(
  page: readonly PageEntry<Id>[],
  read: (ids: readonly Id[]) => Promise<readonly Stored[]>,
): AsyncGenerator<readonly Stored[], void, undefined> {
  let ids: Id[] = [];
  let held = 0;
  for (const { id, bytes } of page) {
    if (ids.length > 0 && held + bytes > SLICE_BYTES) {
      yield await read(ids);
      ids = [];
      held = 0;
    }
    ids.push(id);
    held += bytes;
  }
  if (ids.length > 0) yield await read(ids);
}
