import { MAX_ARTIFACT_BYTES } from '../../wire/v1/limits.ts';
import type { ArtifactDescription, ArtifactKey, NewUpload, UploadKey } from './artifact-store.ts';
import { ArtifactError } from './errors.ts';

const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const SHA256 = /^[0-9a-f]{64}$/;
/** The digest, the length, and the owner unless the account shares the upload. */
const UPLOAD_ID = /^([0-9a-f]{64})\.([1-9][0-9]{0,8})(?:\.[A-Za-z0-9_-]{1,64})?$/;
/** RFC 9110, 8.3.1, with quoted parameter values. Unambiguous, so it never backtracks far. */
const CONTENT_TYPE =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[ !#-[\]-~]*"))*$/;
const MAX_CONTENT_TYPE_CHARACTERS = 400;

function invalid(message: string): ArtifactError {
  return new ArtifactError('ARTIFACT_INVALID', message);
}

/**
 * All names below become part of a path or an object's key. Therefore each call validates them strictly,
 * regardless of checks by the caller.
 */
export function checkAccountId(accountId: string): void {
  if (!ACCOUNT_ID.test(accountId)) {
    throw invalid('The account id must be 1 to 64 letters, digits, hyphens or underscores');
  }
}

export function checkArtifactKey(key: ArtifactKey): void {
  checkAccountId(key.accountId);
  if (!SHA256.test(key.sha256)) {
    throw invalid('The artifact digest (sha256) must be 64 lower-case hexadecimal digits');
  }
}

/** Throws ARTIFACT_INVALID, or ARTIFACT_TOO_LARGE with the limit in its attributes. */
export function checkDescription(description: ArtifactDescription): void {
  checkArtifactKey(description);
  const { bytes, contentType } = description;
  if (!Number.isSafeInteger(bytes) || bytes < 1) {
    throw invalid('The artifact length (bytes) must be a whole number, 1 or more');
  }
  if (bytes > MAX_ARTIFACT_BYTES) {
    const message = `The artifact is ${bytes} bytes long; the limit is ${MAX_ARTIFACT_BYTES} bytes`;
    throw new ArtifactError('ARTIFACT_TOO_LARGE', message, {
      limitBytes: MAX_ARTIFACT_BYTES,
      bytes,
    });
  }
  if (contentType.length > MAX_CONTENT_TYPE_CHARACTERS || !CONTENT_TYPE.test(contentType)) {
    throw invalid('The content type must be a media type such as text/plain; charset=utf-8');
  }
}

/** Returns the same id for the same content of the same owner, so that beginning again resumes the upload. */
export function uploadIdOf({
  sha256,
  bytes,
  owner,
}: Pick<NewUpload, 'sha256' | 'bytes' | 'owner'>): string {
  const content = `${sha256}.${bytes}`;
  return owner === undefined ? content : `${content}.${owner}`;
}

/** Parses an upload id. Throws ARTIFACT_INVALID for anything that `uploadIdOf` does not make. */
export function checkUploadKey(key: UploadKey): ArtifactKey & { readonly bytes: number } {
  checkAccountId(key.accountId);
  const [, sha256, length] = UPLOAD_ID.exec(key.uploadId) ?? [];
  const bytes = Number(length);
  if (sha256 === undefined || bytes > MAX_ARTIFACT_BYTES) {
    throw invalid('The upload id is not one of this service');
  }
  return { accountId: key.accountId, sha256, bytes };
}

/** Whether a name found in the store is that of an upload. */
export function isUploadKey(key: UploadKey): boolean {
  return ACCOUNT_ID.test(key.accountId) && UPLOAD_ID.test(key.uploadId);
}
