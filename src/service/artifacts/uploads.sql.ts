import type { Sql } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { ARTIFACT_FIELDS, type ArtifactFields, artifactParams } from './sql.ts';

/** An open upload, which becomes an artifact of a location. */
export type ArtifactUploadRow = ArtifactFields & {
  readonly id: string;
  readonly artifactId: string;
  /** The slug of the location that uploads it. */
  readonly runLocation: string;
};

interface UploadOf {
  readonly accountId: string;
  readonly id: string;
  readonly runLocation: string;
}

/** What decides whether a location may upload something to a result. */
export type ArtifactTarget = {
  readonly checkExists: boolean;
  /** Results with this id are stored, and only other locations ran them. */
  readonly isRunElsewhere: boolean;
  /** The location's artifacts and uploads of the result, without those of the given artifact. */
  readonly others: number;
  /** The location has begun this same upload before. */
  readonly isOpen: boolean;
  /** The location has this content already, or uploads it. */
  readonly hasContent: boolean;
};

export async function readArtifactTarget(
  sql: Sql,
  upload: Omit<ArtifactUploadRow, 'name' | 'contentType'>,
): Promise<ArtifactTarget> {
  const { accountId, runLocation, checkId, resultId, artifactId, id, sha256, bytes } = upload;
  const [target] = await sql.query<ArtifactTarget>(
    `select
       exists (select from checks where account_id = $1 and id = $3) as check_exists,
       coalesce((select bool_and(run_location <> $2) from check_results
        where account_id = $1 and check_id = $3 and id = $4), false) as is_run_elsewhere,
       (select count(*) from artifacts
        where account_id = $1 and result_id = $4 and run_location = $2
          and coalesce(artifact_id, id) <> $5)
       + (select count(*) from artifact_uploads
          where account_id = $1 and result_id = $4 and run_location = $2
            and artifact_id <> $5) as others,
       exists (select from artifact_uploads
        where account_id = $1 and id = $6 and run_location = $2) as is_open,
       exists (select from artifacts
        where account_id = $1 and run_location = $2 and sha256 = $7 and bytes = $8::bigint)
       or exists (select from artifact_uploads
        where account_id = $1 and run_location = $2 and sha256 = $7
          and bytes = $8::bigint) as has_content`,
    [accountId, runLocation, checkId, resultId, artifactId, id, sha256, bytes],
  );
  if (target !== undefined) return target;
  throw new StoreError('internal', 'STORE_STATEMENT', 'a select without a table returned no row');
}

/** Opens an upload. One that is open already becomes active again. */
export async function openArtifactUpload(sql: Sql, upload: ArtifactUploadRow): Promise<void> {
  await sql.query(
    `insert into artifact_uploads (${ARTIFACT_FIELDS}, id, artifact_id, run_location)
     values ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10)
     on conflict (account_id, id) do update
     set content_type = excluded.content_type, active_at = now()`,
    [...artifactParams(upload), upload.id, upload.artifactId, upload.runLocation],
  );
}

/**
 * Marks an upload as active. One that a replica of the previous release began, which stored no location,
 * becomes the caller's. null if the location has no such upload.
 */
export async function touchArtifactUpload(
  sql: Sql,
  { accountId, id, runLocation }: UploadOf,
): Promise<ArtifactUploadRow | null> {
  const [upload] = await sql.query<ArtifactUploadRow>(
    `update artifact_uploads set active_at = now(), run_location = $3
     where account_id = $1 and id = $2 and (run_location is null or run_location = $3)
     returning ${ARTIFACT_FIELDS}, id, artifact_id, run_location`,
    [accountId, id, runLocation],
  );
  return upload ?? null;
}

export async function deleteArtifactUpload(
  sql: Sql,
  { accountId, id }: Pick<UploadOf, 'accountId' | 'id'>,
): Promise<void> {
  await sql.query('delete from artifact_uploads where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}
