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
import type { Pieces } from './file-pieces.ts';
import type { PartDenial } from './part-denial.ts';
import type { PutAnswer, ServiceClient } from './service-client.ts';
import { type Answer, faultOf, type ServiceFault } from './service-fault.ts';

/**
 * How an upload ended:
 * - `refused`: this artifact will never be taken
 * - `again`: the service misses parts that it had, or has let go of the upload
 * - `fault`: nothing about the artifact; what was sent whole need not be sent again
 */
export type UploadEnd =
  | { readonly end: 'complete' }
  | { readonly end: 'refused' | 'again'; readonly fault: ServiceFault }
  | { readonly end: 'fault'; readonly fault: ServiceFault; readonly partsSent: number };

export interface UploadTools {
  readonly client: Pick<ServiceClient, 'post' | 'put'>;
  /** So many of the artifact's bytes from there on. The pieces throw the system's error. */
  readonly read: (from: number, bytes: number) => Pieces;
  readonly signal: AbortSignal;
  /** Told of each part that is not sent where the service wants it, but through the service. */
  readonly onDenied: (denied: PartDenial) => void;
}

/** The service may compare the digest of all of it before it answers. */
const REQUEST_TIMEOUT_MS = 120_000;
/** A part may take as long as a line of this speed needs for it, and a minute more. */
const MIN_BYTES_PER_S = 16 * 1024;
const PART_TIMEOUT_MS = 60_000;

/**
 * One try to bring an artifact up: asks what is missing, sends those parts, and completes. So a
 * try after one that was cut goes on with the first part that is not whole.
 *
 * @throws the system's error where the artifact cannot be read
 */
export async function uploadArtifact(begin: ArtifactBegin, tools: UploadTools): Promise<UploadEnd> {
  const { client, signal } = tools;
  const options = { timeoutMs: REQUEST_TIMEOUT_MS, signal };
  const begun = await client.post(PATHS.artifacts, begin, {
    ...options,
    schema: artifactUploadSchema,
  });
  if (!begun.ok) {
    const { fault } = begun;
    if (fault.kind !== 'refused') return broken(fault, 0);
    if (isAboutTheArtifact(fault)) return { end: 'refused', fault };
    return { end: 'fault', fault: { ...fault, kind: 'failed' }, partsSent: 0 };
  }
  const { uploadId, partBytes, parts } = begun.value;
  for (const [index, part] of parts.entries()) {
    const from = (part.n - 1) * partBytes;
    const bytes = Math.min(partBytes, begin.bytes - from);
    if (bytes <= 0) return again(`part ${part.n} was asked for, which the artifact does not have`);
    const put = await putAnyWay(part, uploadId, { from, bytes }, tools);
    if (!put.ok) return broken(put.fault, index);
  }
  const completed = await client.post(
    completionPath(uploadId),
    {},
    {
      ...options,
      schema: artifactCompletedSchema,
    },
  );
  if (!completed.ok) return broken(completed.fault, parts.length);
  if (completed.value.complete) return { end: 'complete' };
  return again('the service has not all of the artifact, or not as it was noted');
}

/**
 * The service names what it does not have. A 404 that names nothing is of an address where no
 * service of ours is, or an older one: nothing is lost for that.
 */
function isAboutTheArtifact({ status, attributes }: ServiceFault): boolean {
  return status !== 404 || typeof attributes.resource === 'string';
}

interface Range {
  readonly from: number;
  readonly bytes: number;
}

/** The service takes each part itself, too, whatever store it names. */
async function putAnyWay(
  part: ArtifactPart,
  uploadId: string,
  range: Range,
  tools: UploadTools,
): Promise<Answer<void>> {
  const put = await putPart(part, range, tools);
  if (put.ok || put.fault !== null) return put;
  tools.onDenied(put.denied);
  const through = { ...part, url: partPath(uploadId, part.n), headers: {} };
  const sent = await putPart(through, range, tools);
  if (sent.ok || sent.fault !== null) return sent;
  throw new VedetteError('internal', sent.denied.code, sent.denied.message);
}

async function putPart(
  part: ArtifactPart,
  { from, bytes }: Range,
  { client, read, signal }: UploadTools,
): Promise<PutAnswer> {
  const failure: { error: unknown } = { error: null };
  const timeoutMs = PART_TIMEOUT_MS + (bytes / MIN_BYTES_PER_S) * 1000;
  const body = watched(read(from, bytes), failure);
  const put = await client.put(part, body, bytes, { timeoutMs, signal });
  // That it could not be read is nothing to blame the connection for.
  if (!put.ok && failure.error !== null) throw failure.error;
  return put;
}

/** What it gives is what the source gives; its own failure alone is kept, not the receiver's. */
async function* watched(source: Pieces, failure: { error: unknown }): Pieces {
  try {
    yield* source;
  } catch (error) {
    failure.error = error;
    throw error;
  }
}

/** Past the beginning, what the service refuses is no artifact, but an upload that it let go of. */
function broken(fault: ServiceFault, partsSent: number): UploadEnd {
  return fault.kind === 'refused' ? { end: 'again', fault } : { end: 'fault', fault, partsSent };
}

function again(message: string): UploadEnd {
  return { end: 'again', fault: faultOf('failed', message) };
}
