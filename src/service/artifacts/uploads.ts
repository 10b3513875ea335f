import type { Readable } from 'node:stream';
import { artifactIdOf } from '../../model/ids.ts';
import type { Logger } from '../../runtime/logger.ts';
import {
  type ArtifactBegin,
  type ArtifactCompleted,
  type ArtifactUpload,
  isOverArtifactLimit,
  partPath,
} from '../../wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../wire/v1/limits.ts';
import type { Sql, Store } from '../database/store.ts';
import { badToken, conflict, notFound, tooLarge } from '../errors.ts';
import type { ArtifactStore, MissingPart } from '../object-store/artifact-store.ts';
import { ArtifactError } from '../object-store/errors.ts';
import { uploadIdOf } from '../object-store/names.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { findPrivateLocation } from '../private-locations/shared.sql.ts';
import { uploadGone, withServiceErrors } from './error-responses.ts';
import type { ArtifactQuota } from './quota.ts';
import {
  type ArtifactContent,
  type ArtifactRowKey,
  deleteArtifact,
  findArtifactOfLocation,
  insertArtifact,
  type LocationArtifact,
  lockArtifactContent,
} from './sql.ts';
import {
  artifactRowIds,
  artifactUploadIdOf,
  type ParsedUploadId,
  parseUploadId,
} from './upload-id.ts';
import {
  type ArtifactUploadRow,
  deleteArtifactUpload,
  openArtifactUpload,
  readArtifactTarget,
  touchArtifactUpload,
} from './uploads.sql.ts';

export interface ArtifactUploadsParts {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly log: Logger;
  readonly quota: Pick<ArtifactQuota, 'take'>;
}

/**
 * Uploads of agents. A location's uploads are its own, whatever result they name: they do not affect what
 * another location uploads.
 */
export interface ArtifactUploads {
  /**
   * Begins or resumes an upload. Lists no parts if only the completion is missing, or if the location has
   * an artifact of that name for the result already: the first one stays.
   *
   * @throws ServiceError 413 over MAX_ARTIFACT_BYTES; 404 where the account has no such check, or another
   *   location made the result; 409 where the result has too many artifacts, or a quota is exhausted
   */
  begin(caller: AgentCaller, request: ArtifactBegin, signal: AbortSignal): Promise<ArtifactUpload>;
  /**
   * Stores part n, counted from 1, with backpressure on the source.
   *
   * @throws ServiceError 404 where the location has no such upload (any more), 400 for a part of the
   *   wrong length
   */
  putPart(
    caller: AgentCaller,
    uploadId: string,
    n: number,
    source: Readable,
    signal: AbortSignal,
  ): Promise<void>;
  /** Idempotent. */
  complete(caller: AgentCaller, uploadId: string, signal: AbortSignal): Promise<ArtifactCompleted>;
}

/** A result cannot link to more. */
export const MAX_ARTIFACTS_OF_RESULT = 64;

type StoredRow = ArtifactRowKey & ArtifactContent;

const NOT_COMPLETE: ArtifactCompleted = { complete: false, missing: [] };
const COMPLETE: ArtifactCompleted = { complete: true, missing: [] };

export function createArtifactUploads(parts: ArtifactUploadsParts): ArtifactUploads {
  const { store, contents, log, quota } = parts;

  /** @throws ServiceError 401 where the caller's location is gone */
  async function slugOf({ accountId, locationId: id }: AgentCaller): Promise<string> {
    const location = await findPrivateLocation(store, { accountId, id });
    if (location === null) throw badToken();
    return location.slug;
  }

  async function requireAllowed(upload: ArtifactUploadRow): Promise<void> {
    const target = await readArtifactTarget(store, upload);
    if (!target.checkExists) throw notFound('check');
    if (target.isRunElsewhere) throw notFound('result of this location');
    if (target.others >= MAX_ARTIFACTS_OF_RESULT) {
      throw conflict(`A result has at most ${MAX_ARTIFACTS_OF_RESULT} artifacts`, {
        limit: MAX_ARTIFACTS_OF_RESULT,
      });
    }
    if (target.isOpen) return;
    const { accountId, runLocation: location, bytes } = upload;
    await quota.take({ accountId, location, bytes: target.hasContent ? 0 : bytes });
  }

  /** Makes an uploaded content an artifact. @returns false if the content is gone */
  async function publish(upload: ArtifactUploadRow, signal: AbortSignal): Promise<boolean> {
    const published = await store.transaction(async (tx) => {
      await lockArtifactContent(tx, upload);
      const first = await insertOwn(tx, upload);
      // If another content was first, nothing uses this one: the upload's row stays, so that the
      // clean-up finds the content.
      if (first?.sha256 === upload.sha256) await deleteArtifactUpload(tx, upload);
      return first;
    });
    // The clean-up may have removed the content just before the row was inserted.
    return published !== null && !(await removedIfGone(published, signal));
  }

  /** Deletes an artifact whose content is gone. @returns whether it is */
  async function removedIfGone(
    { accountId, rowId, sha256 }: StoredRow,
    signal: AbortSignal,
  ): Promise<boolean> {
    const content = { accountId, sha256 };
    if ((await contents.stat(content, signal)) !== null) return false;
    return store.transaction(async (tx) => {
      await lockArtifactContent(tx, content);
      // The content may have been uploaded again since.
      if ((await contents.stat(content, signal)) !== null) return false;
      await deleteArtifact(tx, { ...content, rowId });
      return true;
    });
  }

  async function completeOpen(
    upload: ArtifactUploadRow,
    uploadId: string,
    signal: AbortSignal,
  ): Promise<ArtifactCompleted> {
    try {
      await contents.complete({ accountId: upload.accountId, uploadId }, signal);
    } catch (error) {
      const code = error instanceof ArtifactError ? error.code : null;
      const { checkId, resultId, name } = upload;
      if (code === 'ARTIFACT_DIGEST_MISMATCH') {
        log.warn(
          { checkId, resultId, name },
          'the digest of an artifact differs from the announced one',
        );
        return NOT_COMPLETE;
      }
      if (code === 'ARTIFACT_UPLOAD_NOT_FOUND') return NOT_COMPLETE;
      const missing = error instanceof ArtifactError ? error.attributes.missing : undefined;
      if (code === 'ARTIFACT_PARTS_MISSING' && Array.isArray(missing)) {
        return { complete: false, missing };
      }
      throw error;
    }
    return (await publish(upload, signal)) ? COMPLETE : NOT_COMPLETE;
  }

  return {
    async begin(caller, request, signal) {
      if (isOverArtifactLimit(request)) throw tooLarge('The artifact', MAX_ARTIFACT_BYTES);
      const { accountId, locationId: owner } = caller;
      const { resultId, checkId, name, contentType, bytes, sha256 } = request;
      const runLocation = await slugOf(caller);
      const artifactId = artifactIdOf(resultId, name);
      const uploadId = artifactUploadIdOf(artifactId, runLocation, request);
      const nothingMissing = { uploadId, partBytes: bytes, parts: [] };
      const content = { accountId, sha256, bytes, contentType };
      const about = { artifactId, checkId, resultId, name, runLocation };
      const upload = { ...content, ...about, id: uploadId };
      const existing = await findOwn(store, upload);
      // A crash may have left its row without the content.
      if (existing !== null && !(await withServiceErrors(removedIfGone(existing, signal)))) {
        return nothingMissing;
      }
      await requireAllowed(upload);
      // The row comes first: the clean-up does not remove contents that have one.
      await openArtifactUpload(store, upload);
      const begun = await withServiceErrors(contents.begin({ ...content, owner }, signal));
      if (begun.state === 'present') return nothingMissing;
      const { partBytes, missing } = begun.upload;
      return { uploadId, partBytes, parts: missing.map((part) => partMessage(uploadId, part)) };
    },

    async putPart(caller, uploadId, n, source, signal) {
      const { accountId } = caller;
      const parsed = parseUploadId(uploadId);
      if (parsed === null) throw uploadGone();
      const runLocation = await slugOf(caller);
      const upload = await touchArtifactUpload(store, { accountId, id: uploadId, runLocation });
      if (upload === null) throw uploadGone();
      const key = { accountId, uploadId: contentUploadIdOf(upload, parsed, caller) };
      await withServiceErrors(contents.putPart(key, n, source, signal));
    },

    async complete(caller, uploadId, signal) {
      const { accountId } = caller;
      const parsed = parseUploadId(uploadId);
      if (parsed === null) throw uploadGone();
      const runLocation = await slugOf(caller);
      const upload = await touchArtifactUpload(store, { accountId, id: uploadId, runLocation });
      if (upload !== null) {
        return withServiceErrors(
          completeOpen(upload, contentUploadIdOf(upload, parsed, caller), signal),
        );
      }
      // The answer to an earlier completion may have been lost.
      const { artifactId } = parsed;
      const existing = await findOwn(store, { accountId, artifactId, runLocation });
      if (existing === null || (await withServiceErrors(removedIfGone(existing, signal)))) {
        return NOT_COMPLETE;
      }
      return COMPLETE;
    },
  };
}

type OwnArtifact = Pick<LocationArtifact, 'accountId' | 'artifactId' | 'runLocation'>;

function findOwn(
  sql: Sql,
  { accountId, artifactId, runLocation }: OwnArtifact,
): Promise<StoredRow | null> {
  const rowIds = artifactRowIds(artifactId, runLocation);
  return findArtifactOfLocation(sql, { accountId, rowIds, runLocation });
}

/** @returns the location's first artifact of that id */
async function insertOwn(tx: Sql, upload: ArtifactUploadRow): Promise<StoredRow | null> {
  let own = await findOwn(tx, upload);
  for (const rowId of artifactRowIds(upload.artifactId, upload.runLocation)) {
    if (own !== null) break;
    await insertArtifact(tx, { ...upload, rowId });
    own = await findOwn(tx, upload);
  }
  return own;
}

/** The artifact store's own id of the upload: a replica of the previous release set no owner. */
function contentUploadIdOf(
  { sha256, bytes }: ArtifactUploadRow,
  { isWithoutLocation }: ParsedUploadId,
  { locationId: owner }: AgentCaller,
): string {
  return uploadIdOf(isWithoutLocation ? { sha256, bytes } : { sha256, bytes, owner });
}

function partMessage(
  uploadId: string,
  { n, direct }: MissingPart,
): ArtifactUpload['parts'][number] {
  return direct === null
    ? {
        n,
        url: partPath(uploadId, n),
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
      }
    : { n, url: direct.url, method: 'PUT', headers: { ...direct.headers } };
}
