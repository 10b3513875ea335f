import { createHash } from 'node:crypto';
import { messageOf } from '../../../runtime/errors.ts';
import { NO_PROXIES } from '../../../runtime/net/proxy/choose-proxy.ts';
import {
  type ArtifactKey,
  type ArtifactStore,
  type ArtifactStoreParts,
  DEFAULT_PART_BYTES,
  type MissingPart,
  type PartPlan,
  type StoredArtifact,
  type Upload,
  type UploadKey,
} from '../artifact-store.ts';
import { openUnlessStored } from '../begin-upload.ts';
import { resolveRange } from '../byte-range.ts';
import {
  ArtifactError,
  artifactNotFound,
  digestMismatch,
  guardedBy,
  uploadNotFound,
} from '../errors.ts';
import { checkDescription, checkUploadKey, uploadIdOf } from '../names.ts';
import { checkNoneMissing, checkPartBytes, partOf } from '../part-plan.ts';
import { chunksOf, exactly, expectErrors, guardStored } from '../streams.ts';
import { createS3Client, type S3Options, s3Limits } from './s3-client.ts';
import { s3Error } from './s3-errors.ts';
import { S3Layout } from './s3-layout.ts';
import { completeMultipart, presignPart, uploadPart } from './s3-multipart.ts';
import {
  copyObject,
  deleteObject,
  headObject,
  readObject,
  type S3Bucket,
  type S3ObjectFacts,
} from './s3-objects.ts';
import {
  abandonedUploads,
  dropUpload,
  missingParts,
  openMultipartUpload,
  readProgress,
  readState,
  type UploadProgress,
} from './s3-uploads.ts';

/**
 * Creates a store of artifacts in a bucket of S3 or a compatible store. Parts are uploaded to a staging object,
 * which is then read back, verified and copied to the key of its digest: the only atomic way in S3 to publish
 * verified content. The bucket must exist. Sends no request itself; throws a `config` error for an invalid option.
 */
export function createS3Store(
  options: S3Options,
  { clock, log }: ArtifactStoreParts,
  proxies = NO_PROXIES,
): ArtifactStore {
  const { bucket, direct, partBytes = DEFAULT_PART_BYTES } = options;
  checkPartBytes(partBytes);
  const layout = new S3Layout(options.prefix);
  const limits = s3Limits(options);
  const s3: S3Bucket = { bucket, client: createS3Client(options, options.endpoint, proxies) };
  const agents: S3Bucket | null =
    direct === null
      ? null
      : { bucket, client: createS3Client(options, direct.endpoint ?? options.endpoint, proxies) };
  const guarded = guardedBy(s3Error);

  async function find(key: ArtifactKey, signal: AbortSignal): Promise<StoredArtifact | null> {
    const facts = await headObject(s3, layout.artifact(key), signal);
    return facts === null ? null : stored(key, facts);
  }

  async function missing(
    parts: readonly PartPlan[],
    { state }: UploadProgress,
  ): Promise<readonly MissingPart[]> {
    if (agents === null || direct === null) return parts.map((part) => ({ ...part, direct: null }));
    const expires = { inMs: direct.expiresMs, nowMs: clock.wallMs() };
    return Promise.all(
      parts.map(async (part) => ({
        ...part,
        direct: await presignPart(agents, state, part, expires),
      })),
    );
  }

  async function describe(key: UploadKey, progress: UploadProgress): Promise<Upload> {
    const { sha256, bytes } = checkUploadKey(key);
    const { contentType, partBytes, startedAtMs } = progress.state;
    const about = { contentType, partBytes, startedAtMs, sha256, bytes };
    const { accountId, uploadId } = key;
    const parts = await missing(missingParts(key, progress), progress);
    return { accountId, uploadId, ...about, missing: parts };
  }

  /** Computes the digest of an object; null if it is gone. Resumes after a broken connection. */
  async function digestOf(key: string, bytes: number, signal: AbortSignal): Promise<string | null> {
    const hash = createHash('sha256');
    let offset = 0;
    for (let attempt = 1; offset < bytes; attempt += 1) {
      const range = { first: offset, last: bytes - 1 };
      const body = await readObject(s3, key, range, signal);
      if (body === null) return null;
      try {
        for await (const chunk of chunksOf(body)) {
          hash.update(chunk);
          offset += chunk.length;
        }
      } catch (error) {
        if (signal.aborted || attempt >= limits.attempts) throw error;
      }
    }
    return hash.digest('hex');
  }

  /** Verifies and publishes the upload. False if another call has done so and cleaned up in the meantime. */
  async function finish(key: UploadKey, signal: AbortSignal): Promise<boolean> {
    const content = checkUploadKey(key);
    const progress = await readProgress(s3, layout, key, signal);
    if (progress === null) return false;
    const { state, parts } = progress;
    if (parts !== null) {
      checkNoneMissing(missingParts(key, progress));
      await completeMultipart(s3, state, parts, signal);
    }
    const staged = await headObject(s3, state.key, signal);
    if (staged === null) return false;
    const digest = await digestOf(state.key, staged.bytes, signal);
    if (digest === null) return false;
    if (digest !== content.sha256 || staged.bytes !== content.bytes) throw digestMismatch();
    return copyObject(s3, state.key, layout.artifact(content), signal);
  }

  /** Removes the upload. If this fails, `abandoned` finds the rest later. */
  async function cleanUp(key: UploadKey, signal: AbortSignal): Promise<void> {
    try {
      await dropUpload(s3, layout, key, signal);
    } catch (error) {
      log.warn({ ...key, error: messageOf(error) }, 'the parts of an upload could not be removed');
    }
  }

  async function complete(key: UploadKey, signal: AbortSignal): Promise<StoredArtifact> {
    const content = checkUploadKey(key);
    let artifact = await find(content, signal);
    if (artifact === null) {
      let refusal: ArtifactError | null = null;
      try {
        if (await finish(key, signal)) log.debug(key, 'artifact stored');
      } catch (error) {
        if (!(error instanceof ArtifactError)) throw error;
        refusal = error;
      }
      // Checked even after an error: another call may have published the content, and a third one may have begun
      // the upload again, without parts.
      artifact = await find(content, signal);
      if (artifact === null) {
        if (refusal?.code === 'ARTIFACT_DIGEST_MISMATCH') await cleanUp(key, signal);
        throw refusal ?? uploadNotFound();
      }
    }
    await cleanUp(key, signal);
    return artifact;
  }

  return {
    kind: 's3',
    begin: (description, signal) =>
      guarded('begin an upload', signal, async () => {
        checkDescription(description);
        const about = { partBytes, startedAtMs: clock.wallMs() };
        const key = { accountId: description.accountId, uploadId: uploadIdOf(description) };
        const open = async (): Promise<Upload> =>
          describe(key, await openMultipartUpload(s3, layout, description, about, signal));
        return openUnlessStored(description, () => find(description, signal), open);
      }),
    upload: (key, signal) =>
      guarded('read an upload', signal, async () => {
        const progress = await readProgress(s3, layout, key, signal);
        if (progress === null) throw uploadNotFound();
        return describe(key, progress);
      }),
    putPart(key, n, source, signal) {
      expectErrors(source);
      return guarded('write a part', signal, async () => {
        const state = await readState(s3, layout, key, signal);
        if (state === null) throw uploadNotFound();
        const part = partOf(checkUploadKey(key).bytes, state.partBytes, n);
        const chunks = exactly(source, part.bytes, signal);
        if (!(await uploadPart(s3, state, part, chunks, signal))) throw uploadNotFound();
      });
    },
    complete: (key, signal) => guarded('complete an upload', signal, () => complete(key, signal)),
    stat: (key, signal) => guarded('read an artifact', signal, () => find(key, signal)),
    open: (key, range, signal) =>
      guarded('read an artifact', signal, async () => {
        const facts = await headObject(s3, layout.artifact(key), signal);
        if (facts === null) throw artifactNotFound();
        const artifact = stored(key, facts);
        const ends = resolveRange(range, artifact.bytes);
        const source = await readObject(s3, layout.artifact(key), ends, signal);
        if (source === null) throw artifactNotFound();
        const toError = (error: unknown) => s3Error(error, 'read an artifact');
        const stream = guardStored(source, ends.last - ends.first + 1, signal, toError);
        return { artifact, ...ends, stream };
      }),
    remove: (key, signal) =>
      guarded('remove an artifact', signal, async () => {
        const there = (await find(key, signal)) !== null;
        if (there) await deleteObject(s3, layout.artifact(key), signal);
        return there;
      }),
    discard: (key, signal) =>
      guarded('drop an upload', signal, () => dropUpload(s3, layout, key, signal)),
    async *abandoned(beforeMs, signal) {
      try {
        yield* abandonedUploads(s3, layout, beforeMs, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw s3Error(error, 'list the uploads');
      }
    },
    // All leftovers of a crash in a bucket belong to an upload.
    sweep: async () => 0,
    close: async () => {
      s3.client.destroy();
      agents?.client.destroy();
    },
  };
}

function stored(key: ArtifactKey, facts: S3ObjectFacts): StoredArtifact {
  const { accountId, sha256 } = key;
  const { bytes, contentType, modifiedAtMs } = facts;
  return { accountId, sha256, bytes, contentType, storedAtMs: modifiedAtMs };
}
