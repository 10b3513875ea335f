import { z } from 'zod';
import { boundedList, id } from './fields.ts';
import { MAX_ARTIFACT_BYTES, MAX_ARTIFACT_PARTS } from './limits.ts';

/** No folder, no hidden file, and no character with a meaning in a header or a file system. */
const ARTIFACT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;
/** RFC 9110 8.3.1, without quoted parameters. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(; ?[\w!#$&^.+-]{1,40}=[\w!#$&^.+-]{1,100}){0,4}$/;

/** Begins an upload or resumes one: the same (resultId, name, sha256) is the same upload. */
export const artifactBeginSchema = z.object({
  resultId: id,
  /**
   * The check of the result: artifacts may come before the result, and results are found by check.
   */
  checkId: id,
  name: z.string().max(128).regex(ARTIFACT_NAME, 'must be a plain file name'),
  contentType: z.string().max(400).regex(MEDIA_TYPE, 'must be a media type'),
  /** No upper bound: one that is too large is answered 413, with the limit. */
  bytes: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits'),
});
export type ArtifactBegin = z.output<typeof artifactBeginSchema>;

export function isOverArtifactLimit({ bytes }: Pick<ArtifactBegin, 'bytes'>): boolean {
  return bytes > MAX_ARTIFACT_BYTES;
}

/**
 * Where to send a part: to a path of the service with the location key, or to the signed address of
 * an object store without it. If its operator did not allow that origin, the agent sends the part to
 * `partPath` instead.
 */
const partUrl = z
  .string()
  .max(8192)
  .refine((url) => isOwnPath(url) || isWebAddress(url), {
    message: 'must be a path under /agent/v1/ or an http(s) address',
  });

/** Dot segments (RFC 3986 5.2.4) could lead to another service on the same origin. */
function isOwnPath(url: string): boolean {
  return /^\/agent\/v1\/[^\s\\]+$/.test(url) && !/\/(\.|%2e){1,2}(?=[/?#]|$)/i.test(url);
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\/[^/?#\s]/i.test(url) && URL.canParse(url);
}

const part = z.object({
  /** From 1; part n is the bytes from (n - 1) · partBytes on. */
  n: z.int().min(1).max(MAX_ARTIFACT_PARTS),
  url: partUrl,
  method: z.literal('PUT'),
  headers: z
    .record(z.string().max(100), z.string().max(4096))
    .refine((headers) => Object.keys(headers).length <= 32, {
      message: 'must have at most 32 headers',
    }),
});
export type ArtifactPart = z.output<typeof part>;

/**
 * The parts that are still missing; none if only the completion is missing. After 404 or 409 to a
 * part, the upload no longer exists: begin again.
 */
export const artifactUploadSchema = z.object({
  uploadId: id,
  partBytes: z.int().min(1).max(MAX_ARTIFACT_BYTES),
  parts: boundedList(part, MAX_ARTIFACT_PARTS),
});
export type ArtifactUpload = z.output<typeof artifactUploadSchema>;

/**
 * The service has compared the digest. `complete` false: these parts are missing (or were deleted,
 * as the digest differed), so begin again.
 */
export const artifactCompletedSchema = z.object({
  complete: z.boolean(),
  missing: boundedList(z.int().min(1).max(MAX_ARTIFACT_PARTS), MAX_ARTIFACT_PARTS),
});
export type ArtifactCompleted = z.output<typeof artifactCompletedSchema>;

/** The path at which the service itself takes part n, from 1. */
export function partPath(uploadId: string, n: number): string {
  return `/agent/v1/artifacts/${encodeURIComponent(uploadId)}/parts/${n}`;
}

/** The path that completes an upload. */
export function completionPath(uploadId: string): string {
  return `/agent/v1/artifacts/${encodeURIComponent(uploadId)}/complete`;
}
