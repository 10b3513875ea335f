import type { ListRange, ListWalk } from '../../database/lists/list-walk.ts';
import type { PageEntry } from '../../database/lists/page-entries.ts';

/** A part of a list: src/service/README.md, "Responses". */
export interface Page {
  /** 1 to 100. */
  readonly limit: number;
  /** Counted from 1. */
  readonly page: number;
  /** How the client reads the list, for the headers of the response. */
  readonly walk?: ListWalk;
}

/** The whole of a list that is known to be short. */
export const WHOLE_LIST: Page = { limit: 1_000, page: 1 };

/** Converts a page to a range for SQL. */
export function rangeOf({ limit, page, walk }: Page): ListRange {
  return { limit, offset: (page - 1) * limit, ...(walk === undefined ? {} : { walk }) };
}

/** A few hundred checks of the usual length, or one of the longest. */
const SLICE_BYTES = 4 * 1024 * 1024;

/**
 * Reads the entries of a page in slices on demand: only one slice is in memory.
 *
 * @param read returns those of the ids that still exist
 */
export async function* inSlices<Id, Stored>(
  page: readonly PageEntry<Id>[],
  read: (ids: readonly Id[]) => Promise<readonly Stored[]>,
): AsyncGenerator<readonly Stored[], void, undefined> {
  let ids: Id[] = [];
  let bytesInSlice = 0;
  for (const { id, bytes } of page) {
    if (ids.length > 0 && bytesInSlice + bytes > SLICE_BYTES) {
      yield await read(ids);
      ids = [];
      bytesInSlice = 0;
    }
    ids.push(id);
    bytesInSlice += bytes;
  }
  if (ids.length > 0) yield await read(ids);
}
