import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { MissingPart, NewUpload, PartPlan, Upload, UploadKey } from '../artifact-store.ts';
import { digestMismatch, uploadNotFound } from '../errors.ts';
import { checkUploadKey, uploadIdOf } from '../names.ts';
import { partOf, planParts } from '../part-plan.ts';
import { exactly } from '../streams.ts';
import {
  makeFolders,
  orNull,
  renameDurably,
  renameUnlessThere,
  syncFolder,
  writeDurably,
} from './durable-files.ts';
import {
  ABOUT,
  type ArtifactAbout,
  CONTENT,
  type DiskLayout,
  readUploadAbout,
  type UploadAbout,
} from './local-disk-layout.ts';

const COPY_BYTES = 256 * 1024;

/** Opens an upload unless it is already open, possibly by another process with another part size. */
export async function openLocalUpload(
  layout: DiskLayout,
  description: NewUpload,
  about: UploadAbout,
  signal: AbortSignal,
): Promise<void> {
  const key = { accountId: description.accountId, uploadId: uploadIdOf(description) };
  const folder = layout.upload(key);
  if ((await readUploadAbout(folder)) !== null) return;
  const scratch = layout.newScratch();
  try {
    await mkdir(join(scratch, 'parts'), { recursive: true });
    await writeDurably(join(scratch, ABOUT), JSON.stringify(about), signal);
    await syncFolder(scratch);
    await makeFolders(layout.root, join(layout.uploads, key.accountId));
    await renameUnlessThere(scratch, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Throws ARTIFACT_UPLOAD_NOT_FOUND. */
export async function describeUpload(layout: DiskLayout, key: UploadKey): Promise<Upload> {
  const { sha256, bytes } = checkUploadKey(key);
  const about = await readUploadAbout(layout.upload(key));
  const names = await orNull(readdir(layout.parts(key)));
  if (about === null || names === null) throw uploadNotFound();
  const there = new Set(names);
  const missing: MissingPart[] = [];
  for (const part of planParts(bytes, about.partBytes)) {
    const whole = there.has(String(part.n)) && (await isWhole(layout, key, part));
    if (!whole) missing.push({ ...part, direct: null });
  }
  const { accountId, uploadId } = key;
  return { accountId, uploadId, sha256, bytes, ...about, missing };
}

async function isWhole(layout: DiskLayout, key: UploadKey, part: PartPlan): Promise<boolean> {
  const file = await orNull(stat(layout.part(key, part.n)));
  return file?.size === part.bytes;
}

export async function writePart(
  layout: DiskLayout,
  key: UploadKey,
  n: number,
  source: Readable,
  signal: AbortSignal,
): Promise<void> {
  const { bytes } = checkUploadKey(key);
  const about = await readUploadAbout(layout.upload(key));
  if (about === null) throw uploadNotFound();
  const part = partOf(bytes, about.partBytes, n);
  const scratch = layout.newScratch();
  try {
    await writeDurably(scratch, exactly(source, part.bytes, signal), signal);
    const moved = await orNull(renameDurably(scratch, layout.part(key, n)).then(() => true));
    // The upload was completed or dropped in the meantime.
    if (moved === null) throw uploadNotFound();
  } finally {
    await rm(scratch, { force: true });
  }
}

/**
 * Joins the parts of an upload into a new folder with the layout of an artifact, and verifies the
 * digest. The caller must move or remove the folder. Throws ARTIFACT_DIGEST_MISMATCH.
 */
export async function assemble(
  layout: DiskLayout,
  upload: Upload,
  storedAtMs: number,
  signal: AbortSignal,
): Promise<string> {
  const scratch = layout.newScratch();
  const hash = createHash('sha256');
  // One buffer for all chunks: each is written before the next one is read.
  const buffer = Buffer.allocUnsafeSlow(COPY_BYTES);
  async function* joined(): AsyncGenerator<Buffer> {
    for (const { n } of planParts(upload.bytes, upload.partBytes)) {
      const file = await open(layout.part(upload, n), 'r');
      try {
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, COPY_BYTES, null);
          if (bytesRead === 0) break;
          const chunk = buffer.subarray(0, bytesRead);
          hash.update(chunk);
          yield chunk;
        }
      } finally {
        await file.close();
      }
    }
  }
  try {
    await mkdir(scratch);
    await writeDurably(join(scratch, CONTENT), joined(), signal);
    if (hash.digest('hex') !== upload.sha256) throw digestMismatch();
    const { contentType, bytes } = upload;
    const about: ArtifactAbout = { contentType, bytes, storedAtMs };
    await writeDurably(join(scratch, ABOUT), JSON.stringify(about), signal);
    await syncFolder(scratch);
    return scratch;
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

/** Moves a folder away with one rename, then removes it. Returns whether there was one. */
export async function removeFolder(layout: DiskLayout, folder: string): Promise<boolean> {
  const scratch = layout.newScratch();
  const moved = await orNull(rename(folder, scratch).then(() => true));
  if (moved === null) return false;
  await syncFolder(join(folder, '..'));
  await rm(scratch, { recursive: true, force: true });
  return true;
}
