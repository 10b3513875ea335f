import type { Sql } from '../../database/store.ts';

/**
 * Counts a request, also beyond the limit. A window begins with its first request.
 *
 * @returns the requests of the window, and when it began
 */
export async function countRequest(
  sql: Sql,
  {
    subject,
    nowMs,
    windowMs,
  }: { readonly subject: Uint8Array; readonly nowMs: number; readonly windowMs: number },
): Promise<{ readonly requests: number; readonly firstAt: Date }> {
  const [row] = await sql.query<{ requests: number; firstAt: Date }>(
    `insert into status_page_subscribe_counts as c (subject, requests, first_at)
     values ($1::bytea, 1, $2::timestamptz)
     on conflict (subject) do update set
       requests = case when c.first_at > $3::timestamptz then least(c.requests, 1000000) + 1 else 1 end,
       first_at = case when c.first_at > $3::timestamptz then c.first_at else $2::timestamptz end
     returning requests, first_at`,
    [subject, new Date(nowMs), new Date(nowMs - windowMs)],
  );
  return row ?? { requests: 1, firstAt: new Date(nowMs) };
}

/** @returns how many it deleted */
export async function deleteCountsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from status_page_subscribe_counts where subject in (
       select subject from status_page_subscribe_counts
       where first_at < $1::timestamptz limit $2::bigint)
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
