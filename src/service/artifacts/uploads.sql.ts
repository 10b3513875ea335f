import type { Sql } from '../database/port.ts';
import {
  ARTIFACT_FIELDS,
  type ArtifactFields,
  type ArtifactFieldsRow,
  artifactFieldsOf,
  artifactParams,
} from './sql.ts';

/** What is to become an artifact of a location. */
export interface ArtifactUploadRow extends ArtifactFields {
  readonly id: string;
  readonly artifactId: string;
  /** The slug of the location that uploads it. */
  readonly runLocation: string;
}

interface UploadOf {
  readonly accountId: string;
  readonly id: string;
  readonly runLocation: string;
}

/** What decides whether a location may upload something to a result. */
export interface ArtifactTarget {
  readonly checkExists: boolean;
  /** That the result is stored, and all that are stored of this id were run by other locations. */
  readonly isRunElsewhere: boolean;
  /** The location's artifacts and uploads of the result, without those of the given artifact. */
  readonly others: number;
  /** That the location has begun this very upload before. */
  readonly isOpen: boolean;
  /** That the location has this content already, or uploads it. */
  readonly hasContent: boolean;
}

export async function readArtifactTarget(
  sql: Sql,
  upload: Omit<ArtifactUploadRow, 'name' | 'contentType'>,
): Promise<ArtifactTarget> {
  const { accountId, runLocation, checkId, resultId, artifactId, id, sha256, bytes } = upload;
  const [row] = await sql.query<{
    checkExists: boolean;
    isRunElsewhere: boolean | null;
    others: number;
    isOpen: boolean;
    hasContent: boolean;
  }>(
    `select
       exists (select from checks where account_id = $1 and id = $3) as check_exists,
       (select bool_and(run_location <> $2) from check_results
        where account_id = $1 and check_id = $3 and id = $4) as is_run_elsewhere,
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
  return {
    checkExists: row?.checkExists ?? false,
    isRunElsewhere: row?.isRunElsewhere ?? false,
    others: row?.others ?? 0,
    isOpen: row?.isOpen ?? false,
    hasContent: row?.hasContent ?? false,
  };
}

/** Also where it is open already: then it is active again. */
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
 * Notes that something comes for it. One that was begun at a replica of the release before, which
 * noted no location, becomes the caller's. Null where the location has no such upload.
 */
export async function touchArtifactUpload(
  sql: Sql,
  { accountId, id, runLocation }: UploadOf,
): Promise<ArtifactUploadRow | null> {
  const [row] = await sql.query<ArtifactFieldsRow & { readonly artifactId: string }>(
    `update artifact_uploads set active_at = now(), run_location = $3
     where account_id = $1 and id = $2 and (run_location is null or run_location = $3)
     returning ${ARTIFACT_FIELDS}, artifact_id`,
    [accountId, id, runLocation],
  );
  if (row === undefined) return null;
  return { ...artifactFieldsOf(row), id, artifactId: row.artifactId, runLocation };
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
