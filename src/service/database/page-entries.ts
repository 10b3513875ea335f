/** An entry of a page that is still to be read. */
export type PageEntry<Id> = {
  readonly id: Id;
  /** About how many it takes to hold: never much less than that, and mostly more. */
  readonly bytes: number;
};

/** A range of an account's rows. */
export interface AccountRange {
  readonly accountId: string;
  readonly limit: number;
  readonly offset: number;
}

/** pglz packs to a ninetieth at best, lz4 to a 255th. */
const MAX_COMPRESSION = 256;

/**
 * SQL for about how many bytes a value takes once it is read. Of a long one only the pointer to it is
 * looked at, so that it costs nothing.
 */
export function bytesOf(column: string): string {
  return `pg_column_size(${column})::bigint *
    case when pg_column_compression(${column}) is null then 1 else ${MAX_COMPRESSION} end`;
}
