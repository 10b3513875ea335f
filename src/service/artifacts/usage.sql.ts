import type { Sql } from '../database/port.ts';

/**
 * Bytes that the artifacts and open uploads of an account take, by the slug of the location. A
 * content that several of a location's artifacts share counts once; each artifact and each upload
 * counts for `entryBytes` on top. Reads a line of an index for each of them.
 *
 * @returns under null those of the release before, of which the location is not known
 */
export async function readArtifactUsage(
  sql: Sql,
  { accountId, entryBytes }: { readonly accountId: string; readonly entryBytes: number },
): Promise<ReadonlyMap<string | null, number>> {
  const rows = await sql.query<{ runLocation: string | null; taken: number }>(
    `select run_location, sum(bytes + entries * $2::bigint)::bigint as taken
     from (
       select run_location, sha256, bytes, count(*) as entries
       from (
         select run_location, sha256, bytes from artifacts where account_id = $1
         union all
         select run_location, sha256, bytes from artifact_uploads where account_id = $1
       ) each_one
       group by run_location, sha256, bytes
     ) contents
     group by run_location`,
    [accountId, entryBytes],
  );
  return new Map(rows.map((row) => [row.runLocation, row.taken]));
}
