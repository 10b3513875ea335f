import { open, opendir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import {
  type AbandonedUpload,
  type ArtifactKey,
  type ArtifactStore,
  type ArtifactStoreParts,
  DEFAULT_PART_BYTES,
  type StoredArtifact,
  type Upload,
  type UploadKey,
} from '../artifact-store.ts';
import { openUnlessStored } from '../begin-upload.ts';
import { resolveRange } from '../byte-range.ts';
import {
  ArtifactError,
  artifactNotFound,
  diskError,
  guardedBy,
  uploadNotFound,
} from '../errors.ts';
import { checkDescription, checkUploadKey, isUploadKey, uploadIdOf } from '../names.ts';
import { checkNoneMissing, checkPartBytes } from '../part-plan.ts';
import { expectErrors, guardStored } from '../streams.ts';
import { makeFolders, orNull, renameUnlessThere } from './durable-files.ts';
import { CONTENT, DiskLayout, readArtifactAbout } from './local-disk-layout.ts';
import {
  assemble,
  describeUpload,
  openLocalUpload,
  removeFolder,
  writePart,
} from './local-disk-uploads.ts';

export interface LocalDiskOptions {
  /** Only for the store, on one file system. Created where it is missing. */
  readonly folder: string;
  /** MIN_PART_BYTES or more; DEFAULT_PART_BYTES. Open uploads keep the size they began with. */
  readonly partBytes?: number;
}

/**
 * Artifacts in a folder. Writes go to a scratch file, which is synced and then renamed, so that a
 * crash at any byte leaves only complete parts and artifacts. Rejects with an ArtifactError where the
 * folder cannot be made.
 */
export async function openLocalDisk(
  options: LocalDiskOptions,
  { clock, log }: ArtifactStoreParts,
): Promise<ArtifactStore> {
  const { folder, partBytes = DEFAULT_PART_BYTES } = options;
  checkPartBytes(partBytes);
  const layout = new DiskLayout(folder);
  const guarded = guardedBy(diskError);

  async function find(key: ArtifactKey): Promise<StoredArtifact | null> {
    const about = await readArtifactAbout(layout.artifact(key));
    return about === null ? null : { accountId: key.accountId, sha256: key.sha256, ...about };
  }

  async function finish(key: UploadKey, signal: AbortSignal): Promise<StoredArtifact> {
    const content = checkUploadKey(key);
    const upload = await describeUpload(layout, key);
    checkNoneMissing(upload.missing);
    const whole = await assemble(layout, upload, clock.wallMs(), signal);
    const target = layout.artifact(content);
    try {
      await makeFolders(layout.root, dirname(target));
      // False: the same content was completed in the meantime, and is kept.
      if (await renameUnlessThere(whole, target)) log.debug(key, 'artifact stored');
    } finally {
      await rm(whole, { recursive: true, force: true });
    }
    const stored = await find(content);
    if (stored === null) throw artifactNotFound();
    return stored;
  }

  /** Removes an upload. If this fails, `abandoned` finds the rest later. */
  async function dropUpload(key: UploadKey): Promise<void> {
    try {
      await removeFolder(layout, layout.upload(key));
    } catch (error) {
      log.warn({ ...key, error: messageOf(error) }, 'the parts of an upload could not be removed');
    }
  }

  async function complete(key: UploadKey, signal: AbortSignal): Promise<StoredArtifact> {
    const content = checkUploadKey(key);
    const before = await find(content);
    if (before !== null) {
      await dropUpload(key);
      return before;
    }
    try {
      const stored = await finish(key, signal);
      await dropUpload(key);
      return stored;
    } catch (error) {
      // Another process may have completed the same content and removed these parts while they were read.
      const missing = codeOf(error) === 'ARTIFACT_PARTS_MISSING';
      const gone =
        codeOf(error) === 'ARTIFACT_UPLOAD_NOT_FOUND' || systemCodeOf(error) === 'ENOENT';
      if (missing || gone) {
        const stored = await find(content);
        if (stored !== null) return stored;
        if (gone) throw uploadNotFound();
      }
      if (codeOf(error) === 'ARTIFACT_DIGEST_MISMATCH') await dropUpload(key);
      throw error;
    }
  }

  async function* abandoned(
    beforeMs: number,
    signal: AbortSignal,
  ): AsyncGenerator<AbandonedUpload> {
    try {
      for await (const key of uploadKeys(layout)) {
        signal.throwIfAborted();
        const parts = await orNull(stat(layout.parts(key)));
        // Each new part is renamed into this folder.
        if (parts !== null && parts.mtimeMs < beforeMs) {
          yield { ...key, activeAtMs: parts.mtimeMs };
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw diskError(error, 'list its uploads');
    }
  }

  async function sweep(beforeMs: number, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const name of namesIn(layout.scratch)) {
      signal.throwIfAborted();
      const path = join(layout.scratch, name);
      const entry = await orNull(stat(path));
      if (entry === null || entry.mtimeMs >= beforeMs) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  const never = new AbortController().signal;
  await guarded('make its folder', never, () => makeFolders(folder, layout.scratch));

  return {
    kind: 'local-disk',
    begin: (description, signal) =>
      guarded('begin an upload', signal, async () => {
        checkDescription(description);
        const { accountId, contentType } = description;
        const about = { contentType, partBytes, startedAtMs: clock.wallMs() };
        const key = { accountId, uploadId: uploadIdOf(description) };
        const open = async (): Promise<Upload> => {
          await openLocalUpload(layout, description, about, signal);
          return describeUpload(layout, key);
        };
        return openUnlessStored(description, () => find(description), open);
      }),
    upload: (key, signal) => guarded('read an upload', signal, () => describeUpload(layout, key)),
    putPart(key, n, source, signal) {
      expectErrors(source);
      return guarded('write a part', signal, () => writePart(layout, key, n, source, signal));
    },
    complete: (key, signal) => guarded('complete an upload', signal, () => complete(key, signal)),
    stat: (key, signal) => guarded('read an artifact', signal, () => find(key)),
    open: (key, range, signal) =>
      guarded('read an artifact', signal, async () => {
        const artifact = await find(key);
        if (artifact === null) throw artifactNotFound();
        const { first, last } = resolveRange(range, artifact.bytes);
        const file = await orNull(open(join(layout.artifact(key), CONTENT), 'r'));
        if (file === null) throw artifactNotFound();
        const source = file.createReadStream({ start: first, end: last });
        const toError = (error: unknown) => diskError(error, 'read an artifact');
        const stream = guardStored(source, last - first + 1, signal, toError);
        return { artifact, first, last, stream };
      }),
    remove: (key, signal) =>
      guarded('remove an artifact', signal, () => removeFolder(layout, layout.artifact(key))),
    discard: (key, signal) =>
      guarded('drop an upload', signal, () => removeFolder(layout, layout.upload(key))),
    abandoned,
    sweep: (beforeMs, signal) => guarded('sweep', signal, () => sweep(beforeMs, signal)),
    close: async () => {},
  };
}

function codeOf(thrown: unknown): string | null {
  return thrown instanceof ArtifactError ? thrown.code : null;
}

/** Ignores other names in the folder. */
async function* uploadKeys(layout: DiskLayout): AsyncGenerator<UploadKey> {
  for await (const accountId of namesIn(layout.uploads)) {
    for await (const uploadId of namesIn(join(layout.uploads, accountId))) {
      const key = { accountId, uploadId };
      if (isUploadKey(key)) yield key;
    }
  }
}

/** One by one, so that memory does not grow with their number. */
async function* namesIn(path: string): AsyncGenerator<string> {
  const folder = await orNull(opendir(path));
  if (folder === null) return;
  for await (const entry of folder) yield entry.name;
}
