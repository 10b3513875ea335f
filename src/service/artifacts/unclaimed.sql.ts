import type { Sql } from '../database/store.ts';
import { type ArtifactContent, type ArtifactRowKey, HAS_RESULT, IS_ITS_RESULT } from './sql.ts';

/** Where a scan continues. */
export type ScanCursor = {
  /** As the database writes it: a Date has milliseconds only. */
  readonly createdAt: string;
  readonly accountId: string;
  readonly rowId: string;
};

export type UnclaimedArtifact = ScanCursor &
  ArtifactContent & {
    /** The location of its result; null if none is stored. */
    readonly resultLocation: string | null;
  };

/**
 * Artifacts of that age that no result has claimed yet, oldest first, each with its result if that is
 * stored now.
 *
 * @param after null for the first ones
 */
export function listUnclaimedArtifacts(
  sql: Sql,
  {
    olderThanSeconds,
    after,
    limit,
  }: {
    readonly olderThanSeconds: number;
    readonly after: ScanCursor | null;
    readonly limit: number;
  },
): Promise<readonly UnclaimedArtifact[]> {
  return sql.query<UnclaimedArtifact>(
    `select a.account_id, a.id as row_id, a.sha256, a.created_at::text as created_at,
       (select r.run_location from check_results r where ${IS_ITS_RESULT}
        order by r.slot desc limit 1) as result_location
     from artifacts a
     where not a.has_result and a.created_at < now() - make_interval(secs => $1::integer)
       and (a.created_at, a.account_id, a.id)
         > (coalesce($2::timestamptz, '-infinity'), $3::text, $4::text)
     order by a.created_at, a.account_id, a.id limit $5::integer`,
    [olderThanSeconds, after?.createdAt ?? null, after?.accountId ?? '', after?.rowId ?? '', limit],
  );
}

/** Records permanently that the results of artifacts are stored, and their locations. */
export async function claimArtifacts(
  sql: Sql,
  found: readonly (ArtifactRowKey & { readonly location: string })[],
): Promise<void> {
  if (found.length === 0) return;
  await sql.query(
    `update artifacts a set has_result = true, run_location = found.location
     from unnest($1::text[], $2::text[], $3::text[]) as found (account_id, id, location)
     where a.account_id = found.account_id and a.id = found.id`,
    [
      found.map(({ accountId }) => accountId),
      found.map(({ rowId }) => rowId),
      found.map(({ location }) => location),
    ],
  );
}

/** Deletes those of the artifacts that still have no result. @returns how many */
export async function deleteUnclaimedArtifacts(
  tx: Sql,
  { accountId, sha256, rowIds }: ArtifactContent & { readonly rowIds: readonly string[] },
): Promise<number> {
  const rows = await tx.query(
    `delete from artifacts a
     where account_id = $1 and sha256 = $2 and id = any($3::text[]) and not ${HAS_RESULT}
     returning id`,
    [accountId, sha256, rowIds],
  );
  return rows.length;
}
