import type { Sql } from '../database/store.ts';
import type { ArtifactContent } from './sql.ts';

export interface ArtifactAges {
  readonly retentionDays: number;
  /** How long an upload may make no progress. */
  readonly uploadSeconds: number;
}

const IS_OLD_ARTIFACT = 'created_at < now() - make_interval(days => $1::integer)';
const IS_OLD_UPLOAD = 'active_at < now() - make_interval(secs => $2::integer)';
/** Rows that one statement deletes: any number of artifacts may share a content. */
const MAX_ROWS = 1_000;

/** Lists contents of artifacts past the retention, and of uploads without progress. */
export function listOldArtifactContents(
  sql: Sql,
  { retentionDays, uploadSeconds }: ArtifactAges,
  limit: number,
): Promise<readonly ArtifactContent[]> {
  return sql.query<ArtifactContent>(
    `select account_id, sha256 from artifacts where ${IS_OLD_ARTIFACT}
     union
     select account_id, sha256 from artifact_uploads where ${IS_OLD_UPLOAD}
     limit $3::integer`,
    [retentionDays, uploadSeconds, limit],
  );
}

/** Deletes the old artifacts and uploads of one content, at most MAX_ROWS of each. */
export async function deleteOldArtifacts(
  tx: Sql,
  { accountId, sha256, retentionDays, uploadSeconds }: ArtifactContent & ArtifactAges,
): Promise<{ readonly artifacts: number; readonly uploads: number; readonly isPartial: boolean }> {
  const [row] = await tx.query<{ artifacts: number; uploads: number }>(
    `with old_artifacts as (
       delete from artifacts where account_id = $3 and id in (
         select id from artifacts where account_id = $3 and sha256 = $4 and ${IS_OLD_ARTIFACT}
         limit ${MAX_ROWS})
       returning id
     ), old_uploads as (
       delete from artifact_uploads where account_id = $3 and id in (
         select id from artifact_uploads
         where account_id = $3 and sha256 = $4 and ${IS_OLD_UPLOAD} limit ${MAX_ROWS})
       returning id
     )
     select (select count(*) from old_artifacts) as artifacts,
       (select count(*) from old_uploads) as uploads`,
    [retentionDays, uploadSeconds, accountId, sha256],
  );
  const { artifacts = 0, uploads = 0 } = row ?? {};
  return { artifacts, uploads, isPartial: Math.max(artifacts, uploads) === MAX_ROWS };
}

/** Whether an artifact or an upload has the content. */
export async function isContentUsed(
  tx: Sql,
  { accountId, sha256 }: ArtifactContent,
): Promise<boolean> {
  const [row] = await tx.query<{ used: boolean }>(
    `select exists (select from artifacts where account_id = $1 and sha256 = $2)
       or exists (select from artifact_uploads where account_id = $1 and sha256 = $2) as used`,
    [accountId, sha256],
  );
  return row?.used ?? false;
}
