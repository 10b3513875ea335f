import type { Sql } from '../database/store.ts';
import type { ArtifactContent } from './sql.ts';

/**
 * Lists the distinct digests of the account's artifacts and uploads, in order.
 *
 * @param after the digest before the first one; empty for all
 */
export async function listContentsOf(
  sql: Sql,
  {
    accountId,
    after,
    limit,
  }: { readonly accountId: string; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const ofTable = (table: string): string =>
    `(select sha256 from ${table} where account_id = $1 and sha256 > $2
      order by sha256 limit $3::bigint)`;
  const rows = await sql.query<{ sha256: string }>(
    `select sha256 from (${ofTable('artifacts')} union ${ofTable('artifact_uploads')}) contents
     order by sha256 limit $3::bigint`,
    [accountId, after, limit],
  );
  return rows.map(({ sha256 }) => sha256);
}

/** Digests of some artifacts of the account. */
export async function sampleContentsOf(
  sql: Sql,
  { accountId, limit }: { readonly accountId: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ sha256: string }>(
    'select sha256 from artifacts where account_id = $1 order by sha256 limit $2::bigint',
    [accountId, limit],
  );
  return rows.map(({ sha256 }) => sha256);
}

/**
 * Deletes artifacts and uploads of a content, at most `limit` of each, whatever their age.
 *
 * @returns how many, and whether there may be more
 */
export async function deleteOfContent(
  tx: Sql,
  { accountId, sha256, limit }: ArtifactContent & { readonly limit: number },
): Promise<{ readonly artifacts: number; readonly uploads: number; readonly isPartial: boolean }> {
  const ofTable = (table: string): string =>
    `delete from ${table} where account_id = $1 and id in (
       select id from ${table} where account_id = $1 and sha256 = $2 limit $3::bigint)
     returning 1 as one`;
  const [row] = await tx.query<{ artifacts: number; uploads: number }>(
    `with gone_artifacts as (${ofTable('artifacts')}),
       gone_uploads as (${ofTable('artifact_uploads')})
     select (select count(*) from gone_artifacts) as artifacts,
       (select count(*) from gone_uploads) as uploads`,
    [accountId, sha256, limit],
  );
  const { artifacts = 0, uploads = 0 } = row ?? {};
  return { artifacts, uploads, isPartial: Math.max(artifacts, uploads) === limit };
}
