import type { Sql } from '../database/port.ts';
import { type ArtifactContent, type ArtifactRowKey, HAS_RESULT, IS_ITS_RESULT } from './sql.ts';

/** Where a scan has come to. */
export interface ScanCursor {
  /** As the database writes it: a Date has milliseconds only. */
  readonly createdAt: string;
  readonly accountId: string;
  readonly rowId: string;
}

export interface UnclaimedArtifact extends ScanCursor, ArtifactContent {
  /** Where its result was run; null where none is stored. */
  readonly resultLocation: string | null;
}

/**
 * Artifacts older than that whose result was not seen yet, the oldest first. Each is looked up among
 * the results.
 *
 * @param after null for the first ones
 */
export async function listUnclaimedArtifacts(
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
  const rows = await sql.query<{
    accountId: string;
    id: string;
    sha256: string;
    createdAt: string;
    resultLocation: string | null;
  }>(
    `select a.account_id, a.id, a.sha256, a.created_at::text as created_at,
       (select r.run_location from check_results r where ${IS_ITS_RESULT}
        order by r.slot desc limit 1) as result_location
     from artifacts a
     where not a.has_result and a.created_at < now() - make_interval(secs => $1::integer)
       and (a.created_at, a.account_id, a.id)
         > (coalesce($2::timestamptz, '-infinity'), $3::text, $4::text)
     order by a.created_at, a.account_id, a.id limit $5::integer`,
    [olderThanSeconds, after?.createdAt ?? null, after?.accountId ?? '', after?.rowId ?? '', limit],
  );
  return rows.map((row) => ({
    accountId: row.accountId,
    rowId: row.id,
    sha256: row.sha256,
    createdAt: row.createdAt,
    resultLocation: row.resultLocation,
  }));
}

/** Notes for good that their results are stored, and where they were run. */
export async function noteArtifactResults(
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

/** Those of a content whose result has not come meanwhile either. @returns how many */
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
