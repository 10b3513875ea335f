import { type ArtifactContent, HAS_RESULT } from './artifacts.ts';
import type { Sql } from './port.ts';

export interface ArtifactAges {
  readonly retentionDays: number;
  /** How long an artifact may wait for its result. */
  readonly resultSeconds: number;
  /** How long an upload may stand still. */
  readonly uploadSeconds: number;
}

/** What was deleted. */
export interface DeletedArtifacts {
  /** Past the retention. */
  readonly artifacts: number;
  /** Their result did not come in time. */
  readonly unclaimed: number;
  readonly uploads: number;
}

const IS_OLD = 'a.created_at < now() - make_interval(days => $1::integer)';
const IS_UNCLAIMED = `not a.has_result
  and a.created_at < now() - make_interval(secs => $2::integer) and not ${HAS_RESULT}`;
const IS_OLD_UPLOAD = 'active_at < now() - make_interval(secs => $3::integer)';

/**
 * Contents of artifacts past the retention or without a result, and of uploads that stand still; so
 * many at most.
 */
export async function listOldArtifactContents(
  sql: Sql,
  { retentionDays, resultSeconds, uploadSeconds }: ArtifactAges,
  limit: number,
): Promise<readonly ArtifactContent[]> {
  const rows = await sql.query<{ account_id: string; sha256: string }>(
    `select account_id, sha256 from artifacts a where ${IS_OLD}
     union
     select account_id, sha256 from artifacts a where ${IS_UNCLAIMED}
     union
     select account_id, sha256 from artifact_uploads where ${IS_OLD_UPLOAD}
     limit $4::integer`,
    [retentionDays, resultSeconds, uploadSeconds, limit],
  );
  return rows.map((row) => ({ accountId: row.account_id, sha256: row.sha256 }));
}

/** Deletes what of one content is old. */
export async function deleteOldArtifacts(
  tx: Sql,
  old: ArtifactContent & ArtifactAges,
): Promise<DeletedArtifacts & { readonly isUsed: boolean }> {
  const { accountId, sha256, retentionDays, resultSeconds, uploadSeconds } = old;
  const [row] = await tx.query<{
    artifacts: number;
    unclaimed: number;
    uploads: number;
    kept: number;
  }>(
    `with old_artifacts as (
       delete from artifacts a
       where account_id = $4 and sha256 = $5 and (${IS_OLD} or ${IS_UNCLAIMED})
       returning ${IS_OLD} as is_old
     ), old_uploads as (
       delete from artifact_uploads where account_id = $4 and sha256 = $5 and ${IS_OLD_UPLOAD}
       returning id
     )
     select (select count(*) from old_artifacts where is_old) as artifacts,
       (select count(*) from old_artifacts where not is_old) as unclaimed,
       (select count(*) from old_uploads) as uploads,
       -- As it was before: what the statement deletes is still among them.
       (select count(*) from artifacts where account_id = $4 and sha256 = $5)
       + (select count(*) from artifact_uploads where account_id = $4 and sha256 = $5) as kept`,
    [retentionDays, resultSeconds, uploadSeconds, accountId, sha256],
  );
  const { artifacts = 0, unclaimed = 0, uploads = 0, kept = 0 } = row ?? {};
  return { artifacts, unclaimed, uploads, isUsed: kept > artifacts + unclaimed + uploads };
}
