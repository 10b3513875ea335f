import { notFound, ServiceError, tooLarge, unavailable } from '../errors.ts';
import { ArtifactError, type ArtifactErrorCode } from '../object-store/errors.ts';

const STORE_RETRY_SECONDS = 30;

type Answer = (error: ArtifactError) => ServiceError;

/** The store's own text names folders and buckets, which are nobody's concern but the log's. */
const storeAway: Answer = (cause) =>
  unavailable('The artifact store does not work now; try again', STORE_RETRY_SECONDS, cause);
const asItSays: Answer = ({ message, attributes }) =>
  new ServiceError(400, message, { attributes });

const ANSWERS: Readonly<Record<ArtifactErrorCode, Answer>> = {
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

/** 404 to a part: what an agent does about it is to begin again. */
export function uploadGone(): ServiceError {
  return new ServiceError(404, 'There is no such open upload; begin the upload again', {
    attributes: { resource: 'upload' },
  });
}

/** What the artifact store rejects with, as an answer. All else is thrown as it is. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ArtifactError ? ANSWERS[error.code](error) : error;
  }
}
