import type { ListRange } from './list-walk.ts';

/** An entry of a page that is still to be read. */
export type PageEntry<Id> = {
  readonly id: Id;
  /** An estimate of its memory: rarely too low, mostly too high. */
  readonly bytes: number;
};

/** A part of a list of an account's rows. */
export interface AccountRange extends ListRange {
  readonly accountId: string;
}

/** An upper bound: pglz compresses to 1/90 at best, lz4 to 1/255. */
const MAX_COMPRESSION = 256;

/**
 * SQL that estimates how many bytes of memory a value takes when it is read. Does not read a long (TOASTed)
 * value, only the pointer to it.
 */
export function bytesOf(column: string): string {
  return `pg_column_size(${column})::bigint *
    case when pg_column_compression(${column}) is null then 1 else ${MAX_COMPRESSION} end`;
}
