import { z } from 'zod';
import type { AbandonedUpload, NewUpload, PartPlan, UploadKey } from '../artifact-store.ts';
import { ArtifactError, uploadNotFound } from '../errors.ts';
import { checkUploadKey, uploadIdOf } from '../names.ts';
import { planParts } from '../part-plan.ts';
import type { S3Layout } from './s3-layout.ts';
import {
  abortMultipart,
  createMultipart,
  listMultiparts,
  listParts,
  type Multipart,
  type S3Part,
} from './s3-multipart.ts';
import {
  deleteObject,
  headObject,
  listObjects,
  putTextUnlessThere,
  readText,
  type S3Bucket,
} from './s3-objects.ts';

/** The facts about a multipart upload that S3 does not return, stored in a separate object. */
const UPLOAD_STATE = z.object({
  contentType: z.string(),
  partBytes: z.int().positive(),
  startedAtMs: z.number(),
  key: z.string(),
  s3UploadId: z.string(),
});
export type UploadState = z.infer<typeof UPLOAD_STATE>;

export interface UploadProgress {
  readonly state: UploadState;
  /** Null: the parts are joined in the staging object, whose digest is not verified yet. */
  readonly parts: readonly S3Part[] | null;
}

export async function readState(
  s3: S3Bucket,
  layout: S3Layout,
  key: UploadKey,
  signal: AbortSignal,
): Promise<UploadState | null> {
  const text = await readText(s3, layout.state(key), signal);
  if (text === null) return null;
  const state = UPLOAD_STATE.safeParse(parseOrNull(text));
  if (state.success) return state.data;
  const message = `The object ${layout.state(key)} is damaged; delete it to have the artifact uploaded again`;
  throw new ArtifactError('ARTIFACT_DAMAGED', message);
}

/** Null if there is no such upload, or the object store ended it (by a lifecycle rule). */
export async function readProgress(
  s3: S3Bucket,
  layout: S3Layout,
  key: UploadKey,
  signal: AbortSignal,
): Promise<UploadProgress | null> {
  const state = await readState(s3, layout, key, signal);
  return state === null ? null : progressOf(s3, state, signal);
}

async function progressOf(
  s3: S3Bucket,
  state: UploadState,
  signal: AbortSignal,
): Promise<UploadProgress | null> {
  const parts = await listParts(s3, state, signal);
  if (parts !== null) return { state, parts };
  const staged = await headObject(s3, state.key, signal);
  return staged === null ? null : { state, parts: null };
}

/**
 * Opens a multipart upload, or returns one that another process has opened in the meantime. Throws
 * ARTIFACT_UPLOAD_NOT_FOUND if that upload has already ended.
 */
export async function openMultipartUpload(
  s3: S3Bucket,
  layout: S3Layout,
  description: NewUpload,
  about: { readonly partBytes: number; readonly startedAtMs: number },
  signal: AbortSignal,
): Promise<UploadProgress> {
  const key = { accountId: description.accountId, uploadId: uploadIdOf(description) };
  const before = await readState(s3, layout, key, signal);
  if (before !== null) {
    const progress = await progressOf(s3, before, signal);
    if (progress !== null) return progress;
    // The object store ended the upload: its state would block a new one.
    await deleteObject(s3, layout.state(key), signal);
  }
  const { contentType } = description;
  const multipart = await createMultipart(s3, layout.newStaging(key), contentType, signal);
  const state: UploadState = { contentType, ...about, ...multipart };
  const text = JSON.stringify(state);
  if (await putTextUnlessThere(s3, layout.state(key), text, signal)) return { state, parts: [] };
  await abortMultipart(s3, multipart, signal);
  const winner = await readProgress(s3, layout, key, signal);
  if (winner === null) throw uploadNotFound();
  return winner;
}

export function missingParts(key: UploadKey, progress: UploadProgress): readonly PartPlan[] {
  const { state, parts } = progress;
  if (parts === null) return [];
  const bytesOf = new Map(parts.map(({ n, bytes }) => [n, bytes]));
  const plan = planParts(checkUploadKey(key).bytes, state.partBytes);
  return plan.filter(({ n, bytes }) => bytesOf.get(n) !== bytes);
}

/** Deletes the state of an upload, then its parts and objects. Returns whether there was one. */
export async function dropUpload(
  s3: S3Bucket,
  layout: S3Layout,
  key: UploadKey,
  signal: AbortSignal,
): Promise<boolean> {
  const text = await readText(s3, layout.state(key), signal);
  const state = UPLOAD_STATE.safeParse(parseOrNull(text ?? ''));
  await deleteObject(s3, layout.state(key), signal);
  let found = text !== null;
  const multiparts: Multipart[] = state.success ? [state.data] : [];
  for await (const multipart of listMultiparts(s3, layout.staging(key), signal)) {
    if (!state.success || multipart.s3UploadId !== state.data.s3UploadId) {
      multiparts.push(multipart);
    }
  }
  for (const multipart of multiparts) {
    await abortMultipart(s3, multipart, signal);
    found = true;
  }
  for await (const staged of listObjects(s3, layout.staging(key), signal)) {
    await deleteObject(s3, staged.key, signal);
    found = true;
  }
  return found;
}

/** Open uploads without progress, and leftovers of uploads whose state is gone. */
export async function* abandonedUploads(
  s3: S3Bucket,
  layout: S3Layout,
  beforeMs: number,
  signal: AbortSignal,
): AsyncGenerator<AbandonedUpload> {
  for await (const { key: stateKey, modifiedAtMs } of listObjects(s3, layout.states, signal)) {
    const key = layout.uploadOf(stateKey);
    if (key === null || modifiedAtMs >= beforeMs) continue;
    const progress = await readProgress(s3, layout, key, signal);
    const activeAtMs = Math.max(
      modifiedAtMs,
      ...(progress?.parts ?? []).map((part) => part.modifiedAtMs),
    );
    if (activeAtMs < beforeMs) yield { ...key, activeAtMs };
  }
  let last: string | null = null;
  for await (const left of stagingLeftovers(s3, layout, signal)) {
    const key = layout.uploadOf(left.key);
    if (key === null || left.activeAtMs >= beforeMs) continue;
    const stateKey = layout.state(key);
    if (stateKey === last || (await headObject(s3, stateKey, signal)) !== null) continue;
    last = stateKey;
    yield { ...key, activeAtMs: left.activeAtMs };
  }
}

async function* stagingLeftovers(
  s3: S3Bucket,
  layout: S3Layout,
  signal: AbortSignal,
): AsyncGenerator<{ readonly key: string; readonly activeAtMs: number }> {
  for await (const { key, startedAtMs } of listMultiparts(s3, layout.allStaging, signal)) {
    yield { key, activeAtMs: startedAtMs };
  }
  for await (const { key, modifiedAtMs } of listObjects(s3, layout.allStaging, signal)) {
    yield { key, activeAtMs: modifiedAtMs };
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
