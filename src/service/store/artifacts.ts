import type { Row, Sql } from './port.ts';

/** What was uploaded to a result. Its content is in the artifact store, by account and digest. */
export interface Artifact {
  readonly accountId: string;
  readonly id: string;
  readonly checkId: string;
  readonly resultId: string;
  readonly name: string;
  readonly contentType: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly createdAt: Date;
}
type ArtifactFields = Omit<Artifact, 'createdAt'>;

/** What is to become an artifact: `id` is the upload's, `artifactId` the artifact's. */
export interface ArtifactUploadRow extends ArtifactFields {
  readonly artifactId: string;
}

interface OfAccount {
  readonly accountId: string;
  readonly id: string;
}
interface Content {
  readonly accountId: string;
  readonly sha256: string;
}

type FieldsRow = Row & {
  readonly account_id: string;
  readonly id: string;
  readonly check_id: string;
  readonly result_id: string;
  readonly name: string;
  readonly content_type: string;
  readonly sha256: string;
  readonly bytes: number;
};
type ArtifactRow = FieldsRow & { readonly created_at: Date };
type UploadRow = FieldsRow & { readonly artifact_id: string };

const FIELDS = 'account_id, id, check_id, result_id, name, content_type, sha256, bytes';

function fieldsOf(row: FieldsRow): ArtifactFields {
  return {
    accountId: row.account_id,
    id: row.id,
    checkId: row.check_id,
    resultId: row.result_id,
    name: row.name,
    contentType: row.content_type,
    sha256: row.sha256,
    bytes: row.bytes,
  };
}

function artifactOf(row: ArtifactRow): Artifact {
  return { ...fieldsOf(row), createdAt: row.created_at };
}

function paramsOf(fields: ArtifactFields): readonly unknown[] {
  const { accountId, id, checkId, resultId, name, contentType, sha256, bytes } = fields;
  return [accountId, id, checkId, resultId, name, contentType, sha256, bytes];
}

/** What decides whether an agent may upload something to a result. */
export interface ArtifactTarget {
  readonly checkExists: boolean;
  /** Where the result was made; null where it is not stored (yet). */
  readonly runLocation: string | null;
  /** Of the caller's location; null where it is gone. */
  readonly slug: string | null;
  /** Artifacts that the result has, and uploads to it, without those of the given artifact. */
  readonly others: number;
}

export async function readArtifactTarget(
  sql: Sql,
  target: {
    readonly accountId: string;
    readonly locationId: string;
    readonly checkId: string;
    readonly resultId: string;
    readonly artifactId: string;
  },
): Promise<ArtifactTarget> {
  const { accountId, locationId, checkId, resultId, artifactId } = target;
  const [row] = await sql.query<{
    check_exists: boolean;
    run_location: string | null;
    slug: string | null;
    others: number;
  }>(
    `select
       exists (select 1 from checks where account_id = $1 and id = $2) as check_exists,
       (select run_location from check_results
        where account_id = $1 and check_id = $2 and id = $3 limit 1) as run_location,
       (select slug from private_locations where account_id = $1 and id = $4) as slug,
       (select count(*) from artifacts
        where account_id = $1 and result_id = $3 and id <> $5)
       + (select count(*) from artifact_uploads
          where account_id = $1 and result_id = $3 and artifact_id <> $5) as others`,
    [accountId, checkId, resultId, locationId, artifactId],
  );
  return {
    checkExists: row?.check_exists ?? false,
    runLocation: row?.run_location ?? null,
    slug: row?.slug ?? null,
    others: row?.others ?? 0,
  };
}

/** Also where it is open already: then it is active again. */
export async function openArtifactUpload(sql: Sql, upload: ArtifactUploadRow): Promise<void> {
  await sql.query(
    `insert into artifact_uploads (${FIELDS}, artifact_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8::bigint, $9)
     on conflict (account_id, id) do update
     set content_type = excluded.content_type, active_at = now()`,
    [...paramsOf(upload), upload.artifactId],
  );
}

/** Notes that something comes for it. Null where there is no such upload in the account. */
export async function touchArtifactUpload(
  sql: Sql,
  { accountId, id }: OfAccount,
): Promise<ArtifactUploadRow | null> {
  const [row] = await sql.query<UploadRow>(
    `update artifact_uploads set active_at = now() where account_id = $1 and id = $2
     returning ${FIELDS}, artifact_id`,
    [accountId, id],
  );
  return row === undefined ? null : { ...fieldsOf(row), artifactId: row.artifact_id };
}

export async function deleteArtifactUpload(sql: Sql, { accountId, id }: OfAccount): Promise<void> {
  await sql.query('delete from artifact_uploads where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/**
 * Until the transaction ends, nobody else makes this content an artifact or removes it. To be
 * called before anything about it is read.
 */
export async function lockArtifactContent(tx: Sql, { accountId, sha256 }: Content): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 7236530119))', [
    `${accountId}/${sha256}`,
  ]);
}

/** The first one of an id stays. */
export async function insertArtifact(sql: Sql, artifact: ArtifactFields): Promise<void> {
  await sql.query(
    `insert into artifacts (${FIELDS}) values ($1, $2, $3, $4, $5, $6, $7, $8::bigint)
     on conflict (account_id, id) do nothing`,
    paramsOf(artifact),
  );
}

export async function deleteArtifact(sql: Sql, artifact: OfAccount & Content): Promise<void> {
  await sql.query('delete from artifacts where account_id = $1 and id = $2 and sha256 = $3', [
    artifact.accountId,
    artifact.id,
    artifact.sha256,
  ]);
}

export async function findArtifact(
  sql: Sql,
  { accountId, id }: OfAccount,
): Promise<Artifact | null> {
  const [row] = await sql.query<ArtifactRow>(
    `select ${FIELDS}, created_at from artifacts where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return row === undefined ? null : artifactOf(row);
}

/** By name. */
export async function listArtifacts(
  sql: Sql,
  of: { readonly accountId: string; readonly checkId: string; readonly resultId: string },
): Promise<readonly Artifact[]> {
  const rows = await sql.query<ArtifactRow>(
    `select ${FIELDS}, created_at from artifacts
     where account_id = $1 and result_id = $3 and check_id = $2 order by name collate "C"`,
    [of.accountId, of.checkId, of.resultId],
  );
  return rows.map(artifactOf);
}

export interface ArtifactAges {
  readonly retentionDays: number;
  /** How long an upload may stand still. */
  readonly uploadSeconds: number;
}

const IS_OLD_ARTIFACT = 'created_at < now() - make_interval(days => $1::integer)';
const IS_OLD_UPLOAD = 'active_at < now() - make_interval(secs => $2::integer)';

/** Contents of artifacts past the retention, and of uploads that stand still; so many at most. */
export async function listOldArtifactContents(
  sql: Sql,
  { retentionDays, uploadSeconds }: ArtifactAges,
  limit: number,
): Promise<readonly Content[]> {
  const rows = await sql.query<{ account_id: string; sha256: string }>(
    `select account_id, sha256 from artifacts where ${IS_OLD_ARTIFACT}
     union
     select account_id, sha256 from artifact_uploads where ${IS_OLD_UPLOAD}
     limit $3::integer`,
    [retentionDays, uploadSeconds, limit],
  );
  return rows.map((row) => ({ accountId: row.account_id, sha256: row.sha256 }));
}

/** Deletes what of one content is old. */
export async function deleteOldArtifacts(
  tx: Sql,
  { accountId, sha256, retentionDays, uploadSeconds }: Content & ArtifactAges,
): Promise<{ readonly artifacts: number; readonly uploads: number; readonly isUsed: boolean }> {
  const [row] = await tx.query<{ artifacts: number; uploads: number; kept: number }>(
    `with old_artifacts as (
       delete from artifacts where account_id = $3 and sha256 = $4 and ${IS_OLD_ARTIFACT}
       returning id
     ), old_uploads as (
       delete from artifact_uploads where account_id = $3 and sha256 = $4 and ${IS_OLD_UPLOAD}
       returning id
     )
     select (select count(*) from old_artifacts) as artifacts,
       (select count(*) from old_uploads) as uploads,
       -- As it was before: what the statement deletes is still among them.
       (select count(*) from artifacts where account_id = $3 and sha256 = $4)
       + (select count(*) from artifact_uploads where account_id = $3 and sha256 = $4) as kept`,
    [retentionDays, uploadSeconds, accountId, sha256],
  );
  const { artifacts = 0, uploads = 0, kept = 0 } = row ?? {};
  return { artifacts, uploads, isUsed: kept > artifacts + uploads };
}
