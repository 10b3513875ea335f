import type { Row, Sql } from '../database/port.ts';

/** What was uploaded to a result. Its content is in the artifact store, by account and digest. */
export interface ArtifactFields {
  readonly accountId: string;
  readonly checkId: string;
  readonly resultId: string;
  readonly name: string;
  readonly contentType: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** An artifact as results link to it and the API shows it. */
export interface Artifact extends ArtifactFields {
  readonly id: string;
  readonly createdAt: Date;
}

/** One location's artifact. Another location may have one of the same artifact id. */
export interface LocationArtifact extends ArtifactFields {
  readonly rowId: string;
  readonly artifactId: string;
  /** The slug of the location that uploaded it. */
  readonly runLocation: string;
}

/** A row of `artifacts`. */
export interface ArtifactRowKey {
  readonly accountId: string;
  readonly rowId: string;
}

export interface ArtifactContent {
  readonly accountId: string;
  readonly sha256: string;
}

export type ArtifactFieldsRow = Row & {
  readonly accountId: string;
  readonly checkId: string;
  readonly resultId: string;
  readonly name: string;
  readonly contentType: string;
  readonly sha256: string;
  readonly bytes: number;
};
type ArtifactRow = ArtifactFieldsRow & { readonly id: string; readonly createdAt: Date };

/** The columns of ArtifactFieldsRow, in the order of `artifactParams`. */
export const ARTIFACT_FIELDS = 'account_id, check_id, result_id, name, content_type, sha256, bytes';
const SHOWN_ID = 'coalesce(artifact_id, id)';

/**
 * That `r` is the result of the artifact `a`. Where the release before did not note who uploaded it,
 * the result's location counts as the uploader, if the run had begun: nobody could then upload for
 * a run to come.
 */
export const IS_ITS_RESULT = `r.account_id = a.account_id and r.check_id = a.check_id
  and r.id = a.result_id
  and (r.run_location = a.run_location or (a.run_location is null and a.created_at >= r.slot))`;

/** That a result of the artifact's own location is stored: before that, nobody is shown it. */
export const HAS_RESULT = `(a.has_result
  or exists (select from check_results r where ${IS_ITS_RESULT}))`;

export function artifactFieldsOf(row: ArtifactFieldsRow): ArtifactFields {
  return {
    accountId: row.accountId,
    checkId: row.checkId,
    resultId: row.resultId,
    name: row.name,
    contentType: row.contentType,
    sha256: row.sha256,
    bytes: row.bytes,
  };
}

export function artifactParams(fields: ArtifactFields): readonly unknown[] {
  const { accountId, checkId, resultId, name, contentType, sha256, bytes } = fields;
  return [accountId, checkId, resultId, name, contentType, sha256, bytes];
}

function artifactOf(row: ArtifactRow): Artifact {
  return { id: row.id, ...artifactFieldsOf(row), createdAt: row.createdAt };
}

/**
 * Until the transaction ends, nobody else makes this content an artifact or removes it. To be
 * called before anything about it is read.
 */
export async function lockArtifactContent(
  tx: Sql,
  { accountId, sha256 }: ArtifactContent,
): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 7236530119))', [
    `${accountId}/${sha256}`,
  ]);
}

/** The first one of a row id stays, whose-ever it is. */
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
 * What a location itself has uploaded, whether it is shown or not. Null where none of the row ids is
 * an artifact of this location.
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
  const [row] = await sql.query<{ id: string; sha256: string }>(
    `select id, sha256 from artifacts
     where account_id = $1 and id = any($2::text[]) and run_location = $3
     order by created_at limit 1`,
    [accountId, rowIds, runLocation],
  );
  return row === undefined ? null : { accountId, rowId: row.id, sha256: row.sha256 };
}

/** One that is shown. An artifact whose uploader is known goes before one of the release before. */
export async function findArtifact(
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<(Artifact & ArtifactRowKey) | null> {
  const [row] = await sql.query<ArtifactRow & { readonly rowId: string }>(
    `select ${ARTIFACT_FIELDS}, ${SHOWN_ID} as id, id as row_id, created_at from artifacts a
     where account_id = $1 and ${SHOWN_ID} = $2 and ${HAS_RESULT}
     order by run_location is null, created_at limit 1`,
    [accountId, id],
  );
  return row === undefined ? null : { ...artifactOf(row), rowId: row.rowId };
}

/** Those that are shown, by name. */
export async function listArtifacts(
  sql: Sql,
  of: { readonly accountId: string; readonly checkId: string; readonly resultId: string },
): Promise<readonly Artifact[]> {
  const rows = await sql.query<ArtifactRow>(
    `select distinct on (name collate "C") ${ARTIFACT_FIELDS}, ${SHOWN_ID} as id, created_at
     from artifacts a
     where account_id = $1 and result_id = $3 and check_id = $2 and ${HAS_RESULT}
     order by name collate "C", run_location is null, created_at`,
    [of.accountId, of.checkId, of.resultId],
  );
  return rows.map(artifactOf);
}
