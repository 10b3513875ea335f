import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';

/** An upload to a result. Its content is in the artifact store, by account and digest. */
export type ArtifactFields = {
  readonly accountId: string;
  readonly checkId: string;
  readonly resultId: string;
  readonly name: string;
  readonly contentType: string;
  readonly sha256: string;
  readonly bytes: number;
};

/** An artifact as results link to it and the API shows it. */
export type Artifact = ArtifactFields & { readonly id: string; readonly createdAt: Date };

/** The artifact of one location. Another location may have one with the same artifact id. */
export interface LocationArtifact extends ArtifactFields {
  readonly rowId: string;
  readonly artifactId: string;
  /** The slug of the location that uploaded it. */
  readonly runLocation: string;
}

/** A row of `artifacts`. */
export type ArtifactRowKey = { readonly accountId: string; readonly rowId: string };

export type ArtifactContent = { readonly accountId: string; readonly sha256: string };

/** The columns of ArtifactFields, in the order of `artifactParams`. */
export const ARTIFACT_FIELDS = 'account_id, check_id, result_id, name, content_type, sha256, bytes';
const SHOWN_ID = 'coalesce(artifact_id, id)';

/**
 * `r` is the result of the artifact `a`. The previous release did not store who uploaded it: then the
 * result's location counts as the uploader, provided that the run had begun, so that nobody could upload
 * for a future run.
 */
export const IS_ITS_RESULT = `r.account_id = a.account_id and r.check_id = a.check_id
  and r.id = a.result_id
  and (r.run_location = a.run_location or (a.run_location is null and a.created_at >= r.slot))`;

/** A result of the artifact's own location is stored: before that, the artifact is not shown. */
export const HAS_RESULT = `(a.has_result
  or exists (select from check_results r where ${IS_ITS_RESULT}))`;

export function artifactParams(fields: ArtifactFields): readonly unknown[] {
  const { accountId, checkId, resultId, name, contentType, sha256, bytes } = fields;
  return [accountId, checkId, resultId, name, contentType, sha256, bytes];
}

/**
 * Until the transaction ends, no other one publishes or removes this content. Call it before reading
 * anything about the content.
 */
export async function lockArtifactContent(
  tx: Sql,
  { accountId, sha256 }: ArtifactContent,
): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 7236530119))', [
    `${accountId}/${sha256}`,
  ]);
}

/** The first artifact of a row id stays, whichever location it belongs to. */
export async function insertArtifact(sql: Sql, artifact: LocationArtifact): Promise<void> {
  await sql.query(
    `insert into artifacts (${ARTIFACT_FIELDS}, id, artifact_id, run_location)
     values ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10)
     on conflict (account_id, id) do nothing`,
    [...artifactParams(artifact), artifact.rowId, artifact.artifactId, artifact.runLocation],
  );
}

export async function deleteArtifact(
  sql: Sql,
  artifact: ArtifactRowKey & ArtifactContent,
): Promise<void> {
  await sql.query('delete from artifacts where account_id = $1 and id = $2 and sha256 = $3', [
    artifact.accountId,
    artifact.rowId,
    artifact.sha256,
  ]);
}

/**
 * The artifact that the location itself has uploaded, whether it is shown or not; null if none of the
 * rows belongs to this location.
 */
export async function findArtifactOfLocation(
  sql: Sql,
  {
    accountId,
    rowIds,
    runLocation,
  }: {
    readonly accountId: string;
    readonly rowIds: readonly string[];
    readonly runLocation: string;
  },
): Promise<(ArtifactRowKey & ArtifactContent) | null> {
  const [found] = await sql.query<ArtifactRowKey & ArtifactContent>(
    `select account_id, id as row_id, sha256 from artifacts
     where account_id = $1 and id = any($2::text[]) and run_location = $3
     order by created_at limit 1`,
    [accountId, rowIds, runLocation],
  );
  return found ?? null;
}

/** An artifact that is shown. One with a known uploader goes before one of the previous release. */
export async function findArtifact(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<(Artifact & ArtifactRowKey) | null> {
  const [found] = await sql.query<Artifact & ArtifactRowKey>(
    `select ${ARTIFACT_FIELDS}, ${SHOWN_ID} as id, id as row_id, created_at from artifacts a
     where account_id = $1 and ${SHOWN_ID} = $2 and ${HAS_RESULT}
     order by run_location is null, created_at limit 1`,
    [accountId, id],
  );
  return found ?? null;
}

/** The artifacts that are shown, by name. */
export function listArtifacts(
  sql: Sql,
  of: { readonly accountId: string; readonly checkId: string; readonly resultId: string },
): Promise<readonly Artifact[]> {
  return sql.query<Artifact>(
    `select distinct on (name collate "C") ${ARTIFACT_FIELDS}, ${SHOWN_ID} as id, created_at
     from artifacts a
     where account_id = $1 and result_id = $3 and check_id = $2 and ${HAS_RESULT}
     order by name collate "C", run_location is null, created_at`,
    [of.accountId, of.checkId, of.resultId],
  );
}

/**
 * The bytes of an account's artifacts and open uploads, by the slug of the location. A content that
 * several of a location's artifacts share counts once; each artifact and each upload adds `entryBytes`.
 * Reads one index entry for each of them.
 *
 * @returns under null those of the previous release, whose location is not known
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
