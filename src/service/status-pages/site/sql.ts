import type { Sql } from '../../database/store.ts';
import { findGate, type PageGate } from '../access/page-gate.sql.ts';
import { findPage, type StoredPage } from '../sql.ts';

/** The page with this name in its address, of any account. */
export async function findPageByUrl(
  sql: Sql,
  url: string,
): Promise<{ readonly gate: PageGate; readonly page: StoredPage } | null> {
  const gate = await findGate(sql, url);
  const page = gate === null ? null : await findPage(sql, gate);
  return gate === null || page === null ? null : { gate, page };
}

/** Pages with a domain of their own, of all accounts. */
export function listCustomDomains(
  sql: Sql,
  limit: number,
): Promise<readonly { readonly customDomain: string; readonly url: string }[]> {
  return sql.query(
    `select custom_domain, url from status_pages where custom_domain is not null
     order by n limit $1::bigint`,
    [limit],
  );
}
