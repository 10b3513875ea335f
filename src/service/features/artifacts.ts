import type { Readable } from 'node:stream';
import { artifactIdOf } from '../../model/ids.ts';
import {
  type ArtifactBegin,
  type ArtifactCompleted,
  type ArtifactUpload,
  isOverArtifactLimit,
  partPath,
} from '../../wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../wire/v1/limits.ts';
import type { ByteRange } from '../artifacts/byte-range.ts';
import { ArtifactError } from '../artifacts/errors.ts';
import type { MissingPart } from '../artifacts/port.ts';
import { conflict, notFound, tooLarge } from '../errors.ts';
import {
  type Artifact,
  type ArtifactUploadRow,
  deleteArtifact,
  deleteArtifactUpload,
  findArtifact,
  insertArtifact,
  listArtifacts,
  lockArtifactContent,
  openArtifactUpload,
  readArtifactTarget,
  touchArtifactUpload,
} from '../store/artifacts.ts';
import { findCheck } from '../store/checks.ts';
import {
  type ArtifactCleanUp,
  type ArtifactsParts,
  cleanUpOnce,
  keepCleanedUp,
} from './artifact-clean-up.ts';
import { answered, uploadGone } from './artifact-faults.ts';
import { artifactUploadIdOf, parseUploadId } from './artifact-upload-id.ts';
import type { AgentCaller } from './location-keys.ts';

export type { Artifact } from '../store/artifacts.ts';
export type { ArtifactsParts } from './artifact-clean-up.ts';

/** An artifact's bytes `first` to `last`, both inclusive. The stream is the caller's to end. */
export interface OpenArtifact {
  readonly artifact: Artifact;
  readonly first: number;
  readonly last: number;
  readonly stream: Readable;
}

/** Files that agents upload to results: captures, reports, whole bodies. */
export interface Artifacts {
  /**
   * Begins an upload, or takes it up again. No parts where only the completion is missing, also
   * where the result has an artifact of that name already: the first one stays.
   *
   * @throws ServiceError 413 over MAX_ARTIFACT_BYTES; 404 where the account has no such check, or
   *   the result was made at another location; 409 where the result has too many
   */
  begin(caller: AgentCaller, request: ArtifactBegin, signal: AbortSignal): Promise<ArtifactUpload>;
  /**
   * Takes part n, from 1. The source is read as fast as it can be stored, and no faster.
   *
   * @throws ServiceError 404 where the upload is no more, 400 where the part is not of its length
   */
  putPart(
    caller: AgentCaller,
    uploadId: string,
    n: number,
    source: Readable,
    signal: AbortSignal,
  ): Promise<void>;
  /** Harmless where it is complete already. */
  complete(caller: AgentCaller, uploadId: string, signal: AbortSignal): Promise<ArtifactCompleted>;
  /** By name. */
  list(accountId: string, checkId: string, resultId: string): Promise<readonly Artifact[]>;
  read(accountId: string, id: string): Promise<Artifact>;
  /** @throws ServiceError 404, or 416 where not one byte of the range exists */
  open(
    accountId: string,
    id: string,
    range: ByteRange | null,
    signal: AbortSignal,
  ): Promise<OpenArtifact>;
  /** One clean-up. */
  cleanUp(signal: AbortSignal): Promise<ArtifactCleanUp>;
  /** Cleans up every hour or so, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
}

/** As many as a result can name. */
export const MAX_ARTIFACTS_OF_RESULT = 64;

const NOT_COMPLETE: ArtifactCompleted = { complete: false, missing: [] };
const COMPLETE: ArtifactCompleted = { complete: true, missing: [] };

export function createArtifacts(parts: ArtifactsParts): Artifacts {
  const { store, contents, log } = parts;

  async function mustTake(
    { accountId, locationId }: AgentCaller,
    artifactId: string,
    { checkId, resultId }: ArtifactBegin,
  ): Promise<void> {
    const about = { accountId, locationId, checkId, resultId, artifactId };
    const { checkExists, runLocation, slug, others } = await readArtifactTarget(store, about);
    if (!checkExists || slug === null) throw notFound('check');
    if (runLocation !== null && runLocation !== slug) throw notFound('result of this location');
    if (others >= MAX_ARTIFACTS_OF_RESULT) {
      throw conflict(`A result has ${MAX_ARTIFACTS_OF_RESULT} artifacts at most`, {
        limit: MAX_ARTIFACTS_OF_RESULT,
      });
    }
  }

  /** Makes what is stored an artifact. False where the content went away meanwhile. */
  async function publish(upload: ArtifactUploadRow, signal: AbortSignal): Promise<boolean> {
    const { artifactId, ...fields } = upload;
    const { sha256 } = fields;
    const artifact = { ...fields, id: artifactId };
    await store.transaction(async (tx) => {
      await lockArtifactContent(tx, upload);
      await insertArtifact(tx, artifact);
      const stays = await findArtifact(tx, artifact);
      // Where another content was first, this one is in use by nobody: its upload stays behind, so
      // that the clean-up finds it.
      if (stays?.sha256 === sha256) await deleteArtifactUpload(tx, upload);
    });
    // The clean-up may have removed the content just before the row stood for it.
    return !(await withdrawn(artifact, signal));
  }

  /** Takes an artifact back whose content is gone. @returns whether it is */
  async function withdrawn(
    { accountId, id, sha256 }: Pick<Artifact, 'accountId' | 'id' | 'sha256'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const content = { accountId, sha256 };
    if ((await contents.stat(content, signal)) !== null) return false;
    return store.transaction(async (tx) => {
      await lockArtifactContent(tx, content);
      // Where this comes late, somebody may have brought it anew.
      if ((await contents.stat(content, signal)) !== null) return false;
      await deleteArtifact(tx, { ...content, id });
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
          'an artifact came with another digest than announced',
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
      const { accountId } = caller;
      const { resultId, checkId, name, contentType, bytes, sha256 } = request;
      const artifactId = artifactIdOf(resultId, name);
      const uploadId = artifactUploadIdOf(artifactId, request);
      const nothingMissing = { uploadId, partBytes: bytes, parts: [] };
      await mustTake(caller, artifactId, request);
      const there = await findArtifact(store, { accountId, id: artifactId });
      // Nobody may have been left to take it back.
      if (there !== null && !(await answered(withdrawn(there, signal)))) return nothingMissing;
      const content = { accountId, sha256, bytes, contentType };
      // First of all the row: the clean-up leaves contents alone that have one.
      await openArtifactUpload(store, {
        ...content,
        id: uploadId,
        artifactId,
        checkId,
        resultId,
        name,
      });
      const begun = await answered(contents.begin(content, signal));
      if (begun.state === 'present') return nothingMissing;
      const { partBytes, missing } = begun.upload;
      return { uploadId, partBytes, parts: missing.map((part) => partMessage(uploadId, part)) };
    },

    async putPart({ accountId }, uploadId, n, source, signal) {
      const parsed = parseUploadId(uploadId);
      const upload = await touchArtifactUpload(store, { accountId, id: uploadId });
      if (parsed === null || upload === null) throw uploadGone();
      const key = { accountId, uploadId: parsed.contentUploadId };
      await answered(contents.putPart(key, n, source, signal));
    },

    async complete({ accountId }, uploadId, signal) {
      const parsed = parseUploadId(uploadId);
      if (parsed === null) throw uploadGone();
      const upload = await touchArtifactUpload(store, { accountId, id: uploadId });
      if (upload !== null) {
        return answered(completeOpen(upload, parsed.contentUploadId, signal));
      }
      // The answer to an earlier completion may have been lost.
      const there = await findArtifact(store, { accountId, id: parsed.artifactId });
      if (there === null || (await answered(withdrawn(there, signal)))) return NOT_COMPLETE;
      return COMPLETE;
    },

    async list(accountId, checkId, resultId) {
      if ((await findCheck(store, { accountId, id: checkId })) === null) throw notFound('check');
      return listArtifacts(store, { accountId, checkId, resultId });
    },

    read,

    async open(accountId, id, range, signal) {
      const artifact = await read(accountId, id);
      const { sha256 } = artifact;
      const opened = await answered(contents.open({ accountId, sha256 }, range, signal));
      const { first, last, stream } = opened;
      stream.on('error', (error) => {
        if (!signal.aborted)
          log.warn({ err: error, artifactId: id }, 'an artifact was not sent whole');
      });
      return { artifact, first, last, stream };
    },

    cleanUp: (signal) => cleanUpOnce(parts, signal),
    keep: (signal) => keepCleanedUp(parts, signal),
  };

  async function read(accountId: string, id: string): Promise<Artifact> {
    const artifact = await findArtifact(store, { accountId, id });
    if (artifact === null) throw notFound('artifact');
    return artifact;
  }
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
