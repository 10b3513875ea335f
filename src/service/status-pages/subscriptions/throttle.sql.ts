import type { Sql } from '../../database/store.ts';
import { countInWindow, deleteWindowsBefore } from '../../database/window-counts.ts';

const REQUESTS = { table: 'status_page_subscribe_counts', count: 'requests' } as const;

/** Counts a request, also beyond the limit. */
export function countRequest(sql: Sql, of: Parameters<typeof countInWindow>[2]) {
  return countInWindow(sql, REQUESTS, of);
}

/** @returns how many it deleted */
export function deleteCountsBefore(
  sql: Sql,
  old: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  return deleteWindowsBefore(sql, REQUESTS, old);
}
