import type { Sql } from '../../database/store.ts';

/** What decides who may read a page. */
export type PageGate = {
  readonly accountId: string;
  /** The id of the page. */
  readonly id: string;
  readonly isPrivate: boolean;
  /** null without a password. */
  readonly passwordHash: string | null;
};

/** Reads who may see the page with this name in its address, in any account. */
export async function findGate(sql: Sql, url: string): Promise<PageGate | null> {
  const [gate] = await sql.query<PageGate>(
    'select account_id, id, is_private, password_hash from status_pages where url = $1',
    [url],
  );
  return gate ?? null;
}
