import type { Sql } from './store.ts';

/** A table of counts by `subject`, each of a window of time that begins at `first_at`. */
export interface WindowCounts {
  readonly table: string;
  /** Its column with the count. */
  readonly count: string;
}

/** Maximum of the stored count, so that an endless attack does not overflow the column. */
const MAX_COUNT = 1_000_000;

/**
 * Increments the count of the subject, also beyond any limit. A window begins with its first count.
 *
 * @returns how many there are in the window, and when it began
 */
export async function countInWindow(
  sql: Sql,
  { table, count }: WindowCounts,
  {
    subject,
    nowMs,
    windowMs,
  }: { readonly subject: Uint8Array; readonly nowMs: number; readonly windowMs: number },
): Promise<{ readonly count: number; readonly firstAt: Date }> {
  const [row] = await sql.query<{ count: number; firstAt: Date }>(
    `insert into ${table} as c (subject, ${count}, first_at)
     values ($1::bytea, 1, $2::timestamptz)
     on conflict (subject) do update set
       ${count} = case when c.first_at > $3::timestamptz
         then least(c.${count}, ${MAX_COUNT}) + 1 else 1 end,
       first_at = case when c.first_at > $3::timestamptz then c.first_at else $2::timestamptz end
     returning ${count} as count, first_at`,
    [subject, new Date(nowMs), new Date(nowMs - windowMs)],
  );
  return row ?? { count: 1, firstAt: new Date(nowMs) };
}

/**
 * Deletes counts of windows that began before the instant.
 *
 * @returns how many it deleted
 */
export async function deleteWindowsBefore(
  sql: Sql,
  { table }: Pick<WindowCounts, 'table'>,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from ${table} where subject in (
       select subject from ${table} where first_at < $1::timestamptz limit $2::bigint)
     returning 1 as one`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
