import type { Sql } from '../database/store.ts';
import { countInWindow, deleteWindowsBefore } from '../database/window-counts.ts';

const FAILURES = { table: 'sign_in_failures', count: 'failures' } as const;

/** Counts a failure, even if the limit is reached. */
export function addFailure(sql: Sql, of: Parameters<typeof countInWindow>[2]) {
  return countInWindow(sql, FAILURES, of);
}

/** Revokes a counted failure. */
export async function subtractFailure(sql: Sql, subjects: readonly Uint8Array[]): Promise<void> {
  for (const subject of subjects) {
    await sql.query(
      'update sign_in_failures set failures = failures - 1 where subject = $1::bytea and failures > 0',
      [subject],
    );
  }
}

/** @returns how many it deleted */
export function deleteFailuresBefore(
  sql: Sql,
  old: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  return deleteWindowsBefore(sql, FAILURES, old);
}
