import { S3ServiceException } from '@aws-sdk/client-s3';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import { ArtifactError } from '../errors.ts';

/** Error codes of S3, and names of the SDK for responses without a body (HEAD). */
const NOT_FOUND: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload']);
const REFUSED: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'InvalidToken',
  'NoSuchBucket',
  'CredentialsProviderError',
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
]);
const FULL: ReadonlySet<string> = new Set([
  'QuotaExceeded',
  'XMinioStorageFull',
  'InsufficientCapacity',
  'ServiceQuotaExceededException',
]);
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const FIRST_SERVER_ERROR = 500;
const INSUFFICIENT_STORAGE = 507;
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

function statusOf(thrown: unknown): number | null {
  return thrown instanceof S3ServiceException ? (thrown.$metadata.httpStatusCode ?? null) : null;
}

export function isNotFound(thrown: unknown): boolean {
  return NOT_FOUND.has(nameOf(thrown));
}

/** The condition of a write (If-None-Match, If-Match) was not met, or another write was running. */
export function isConditionFailed(thrown: unknown): boolean {
  const name = nameOf(thrown);
  return name === 'PreconditionFailed' || name === 'ConditionalRequestConflict';
}

/** The store does not support conditional writes. */
export function isNotImplemented(thrown: unknown): boolean {
  return nameOf(thrown) === 'NotImplemented';
}

function codeFor(thrown: unknown): 'FULL' | 'REFUSED' | 'UNAVAILABLE' | 'FAILED' {
  const name = nameOf(thrown);
  const status = statusOf(thrown);
  if (FULL.has(name) || status === INSUFFICIENT_STORAGE) return 'FULL';
  // A response to HEAD has no body, so no code.
  if (REFUSED.has(name) || status === UNAUTHORIZED || status === FORBIDDEN) return 'REFUSED';
  if (name === 'TimeoutError' || (status === null && systemCodeOf(thrown) !== null)) {
    return 'UNAVAILABLE';
  }
  if (status === null) return 'FAILED';
  const busy = status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS;
  return busy || status >= FIRST_SERVER_ERROR ? 'UNAVAILABLE' : 'FAILED';
}

const ADVICE = {
  FULL: 'its storage is full; free space or raise its quota',
  REFUSED: 'it refused; check the credentials, the bucket, the region and the clock',
  UNAVAILABLE: 'it cannot be reached or is too busy; this is tried again',
  FAILED: 'it answered with an error',
} as const;

/**
 * Converts a failed request to an error that a user can act on. Returns an ArtifactError as it is. `doing`
 * completes the sentence "The object store could not …".
 */
export function s3Error(thrown: unknown, doing: string): ArtifactError {
  if (thrown instanceof ArtifactError) return thrown;
  const code = codeFor(thrown);
  const s3Code = statusOf(thrown) === null ? systemCodeOf(thrown) : nameOf(thrown);
  const detail = s3Code ?? (nameOf(thrown) === '' ? 'unknown' : nameOf(thrown));
  const message = `The object store could not ${doing}: ${ADVICE[code]} (${detail})`;
  const attributes = { s3Code: detail, status: statusOf(thrown) };
  // A new error, because that of the SDK contains the request with its signature, which must not be logged.
  const cause = new Error(`${nameOf(thrown)}: ${messageOf(thrown)}`);
  return new ArtifactError(`ARTIFACT_STORE_${code}`, message, attributes, { cause });
}
