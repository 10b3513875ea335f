import { notFound, ServiceError, tooLarge, unavailable } from '../errors.ts';
import { ArtifactError, type ArtifactErrorCode } from '../object-store/errors.ts';

const STORE_RETRY_SECONDS = 30;

type ToServiceError = (error: ArtifactError) => ServiceError;

/** The store's own text names folders and buckets: only the log shows it. */
const storeAway: ToServiceError = (cause) =>
  unavailable('The artifact store is not available; try again', STORE_RETRY_SECONDS, cause);
const asItSays: ToServiceError = ({ message, attributes }) =>
  new ServiceError(400, message, { attributes });

const ANSWERS: Readonly<Record<ArtifactErrorCode, ToServiceError>> = {
  ARTIFACT_INVALID: asItSays,
  ARTIFACT_TOO_LARGE: ({ attributes }) => tooLarge('The artifact', Number(attributes.limitBytes)),
  ARTIFACT_NOT_FOUND: () => notFound('artifact'),
  ARTIFACT_UPLOAD_NOT_FOUND: () => uploadGone(),
  ARTIFACT_PART_LENGTH: asItSays,
  ARTIFACT_PARTS_MISSING: asItSays,
  ARTIFACT_DIGEST_MISMATCH: asItSays,
  ARTIFACT_RANGE: ({ message, attributes }) =>
    new ServiceError(416, message, {
      attributes,
      headers: { 'content-range': `bytes */${String(attributes.bytes)}` },
    }),
  ARTIFACT_STORE_FULL: (cause) =>
    new ServiceError(507, 'The artifact store is full', {
      headers: { 'retry-after': String(STORE_RETRY_SECONDS) },
      cause,
    }),
  ARTIFACT_STORE_UNAVAILABLE: storeAway,
  ARTIFACT_STORE_REFUSED: storeAway,
  ARTIFACT_STORE_FAILED: storeAway,
  ARTIFACT_DAMAGED: (cause) =>
    new ServiceError(500, 'The stored artifact is damaged; the log of the service says more', {
      cause,
    }),
};

/** An agent begins the upload again after this 404. */
export function uploadGone(): ServiceError {
  return new ServiceError(404, 'There is no such open upload; begin the upload again', {
    attributes: { resource: 'upload' },
  });
}

/** Turns rejections of the artifact store into errors for the client; rethrows all others. */
export async function withServiceErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ArtifactError ? ANSWERS[error.code](error) : error;
  }
}
