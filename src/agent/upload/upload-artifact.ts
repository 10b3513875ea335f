import { VedetteError } from '../../runtime/errors.ts';
import {
  type ArtifactBegin,
  type ArtifactPart,
  artifactCompletedSchema,
  artifactUploadSchema,
  completionPath,
  partPath,
} from '../../wire/v1/artifacts.ts';
import { PATHS } from '../../wire/v1/limits.ts';
import type { PartDenial } from '../service-client/direct-uploads.ts';
import type { Pieces } from '../service-client/file-pieces.ts';
import type { PutResponse, ServiceClient } from '../service-client/service-client.ts';
import {
  type ServiceFailure,
  type ServiceResponse,
  serviceFailure,
} from '../service-client/service-failure.ts';

/**
 * How an upload ended:
 * - `refused`: the service will never accept this artifact
 * - `again`: the service lost parts, or the upload no longer exists
 * - `failure`: not about the artifact; complete parts need not be sent again
 */
export type UploadEnd =
  | { readonly end: 'complete' }
  | { readonly end: 'refused' | 'again'; readonly failure: ServiceFailure }
  | { readonly end: 'failure'; readonly failure: ServiceFailure; readonly partsSent: number };

export interface UploadParts {
  readonly client: Pick<ServiceClient, 'post' | 'put'>;
  /** The artifact's `bytes` from that offset on. The pieces throw the system's error. */
  readonly read: (from: number, bytes: number) => Pieces;
  readonly signal: AbortSignal;
  /** Receives each part that goes through the service, because its own address is not allowed. */
  readonly onDenied: (denied: PartDenial) => void;
}

/** The service may compute the digest of the whole artifact before it answers. */
const REQUEST_TIMEOUT_MS = 120_000;
/** A part may take as long as over a line of this speed, and a minute more. */
const MIN_BYTES_PER_S = 16 * 1024;
const PART_TIMEOUT_MS = 60_000;

/**
 * Tries once to upload an artifact: asks which parts are missing, sends them, and completes. After
 * an interruption the next try continues with the first incomplete part.
 *
 * @throws the system's error if the artifact cannot be read
 */
export async function uploadArtifact(begin: ArtifactBegin, tools: UploadParts): Promise<UploadEnd> {
  const { client, signal } = tools;
  const options = { timeoutMs: REQUEST_TIMEOUT_MS, signal };
  const begun = await client.post(PATHS.artifacts, begin, {
    ...options,
    schema: artifactUploadSchema,
  });
  if (!begun.ok) {
    const { failure } = begun;
    if (failure.kind !== 'refused') return broken(failure, 0);
    if (isAboutTheArtifact(failure)) return { end: 'refused', failure };
    return { end: 'failure', failure: { ...failure, kind: 'failed' }, partsSent: 0 };
  }
  const { uploadId, partBytes, parts } = begun.value;
  for (const [index, part] of parts.entries()) {
    const from = (part.n - 1) * partBytes;
    const bytes = Math.min(partBytes, begin.bytes - from);
    if (bytes <= 0) return again(`part ${part.n} was asked for, which the artifact does not have`);
    const put = await putAnyWay(part, uploadId, { from, bytes }, tools);
    if (!put.ok) return broken(put.failure, index);
  }
  const completed = await client.post(
    completionPath(uploadId),
    {},
    {
      ...options,
      schema: artifactCompletedSchema,
    },
  );
  if (!completed.ok) return broken(completed.failure, parts.length);
  if (completed.value.complete) return { end: 'complete' };
  return again('the service has not all of the artifact, or not as it was noted');
}

/** A 404 that names no missing resource is from another server, or from an older service. */
function isAboutTheArtifact({ status, attributes }: ServiceFailure): boolean {
  return status !== 404 || typeof attributes.resource === 'string';
}

interface Range {
  readonly from: number;
  readonly bytes: number;
}

/** Sends a part to the store, or through the service if the store's address is not allowed. */
async function putAnyWay(
  part: ArtifactPart,
  uploadId: string,
  range: Range,
  tools: UploadParts,
): Promise<ServiceResponse<void>> {
  const put = await putPart(part, range, tools);
  if (put.ok || put.failure !== null) return put;
  tools.onDenied(put.denied);
  const through = { ...part, url: partPath(uploadId, part.n), headers: {} };
  const sent = await putPart(through, range, tools);
  if (sent.ok || sent.failure !== null) return sent;
  throw new VedetteError('internal', sent.denied.code, sent.denied.message);
}

async function putPart(
  part: ArtifactPart,
  { from, bytes }: Range,
  { client, read, signal }: UploadParts,
): Promise<PutResponse> {
  const failure: { error: unknown } = { error: null };
  const timeoutMs = PART_TIMEOUT_MS + (bytes / MIN_BYTES_PER_S) * 1000;
  const body = watched(read(from, bytes), failure);
  const put = await client.put(part, body, bytes, { timeoutMs, signal });
  // The file could not be read: no failure of the connection.
  if (!put.ok && failure.error !== null) throw failure.error;
  return put;
}

/** Passes the pieces on, and notes a failure of the source, not of the receiver. */
async function* watched(source: Pieces, failure: { error: unknown }): Pieces {
  try {
    yield* source;
  } catch (error) {
    failure.error = error;
    throw error;
  }
}

/** The end after a failure. After the begin, a refusal means that the upload no longer exists. */
function broken(failure: ServiceFailure, partsSent: number): UploadEnd {
  return failure.kind === 'refused'
    ? { end: 'again', failure }
    : { end: 'failure', failure, partsSent };
}

function again(message: string): UploadEnd {
  return { end: 'again', failure: serviceFailure('failed', message) };
}
