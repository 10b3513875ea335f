import type { Sql } from '../database/store.ts';

/**
 * Counts a failure, also where there are as many as allowed. A window begins with its first failure.
 *
 * @returns the failures of the window, and when it began
 */
export async function addFailure(
  sql: Sql,
  {
    subject,
    nowMs,
    windowMs,
  }: { readonly subject: Uint8Array; readonly nowMs: number; readonly windowMs: number },
): Promise<{ readonly failures: number; readonly firstAt: Date }> {
  const [row] = await sql.query<{ failures: number; firstAt: Date }>(
    `insert into sign_in_failures as f (subject, failures, first_at)
     values ($1::bytea, 1, $2::timestamptz)
     on conflict (subject) do update set
       failures = case when f.first_at > $3::timestamptz then least(f.failures, 1000000) + 1 else 1 end,
       first_at = case when f.first_at > $3::timestamptz then f.first_at else $2::timestamptz end
     returning failures, first_at`,
    [subject, new Date(nowMs), new Date(nowMs - windowMs)],
  );
  return row ?? { failures: 1, firstAt: new Date(nowMs) };
}

/** Takes a failure back. */
export async function subtractFailure(sql: Sql, subjects: readonly Uint8Array[]): Promise<void> {
  for (const subject of subjects) {
    await sql.query(
      'update sign_in_failures set failures = failures - 1 where subject = $1::bytea and failures > 0',
      [subject],
    );
  }
}

/** @returns how many it deleted */
export async function deleteFailuresBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from sign_in_failures where subject in (
       select subject from sign_in_failures where first_at < $1::timestamptz limit $2::bigint)
     returning 1 as one`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
