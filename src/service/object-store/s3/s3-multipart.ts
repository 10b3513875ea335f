import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { DirectPut, PartPlan } from '../artifact-store.ts';
import { isNotFound } from './s3-errors.ts';
import type { S3Bucket } from './s3-objects.ts';

/** Identifies a multipart upload in S3. */
export interface Multipart {
  readonly key: string;
  readonly s3UploadId: string;
}

export interface S3Part {
  readonly n: number;
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedAtMs: number;
}

function target({ bucket }: S3Bucket, { key, s3UploadId }: Multipart) {
  return { Bucket: bucket, Key: key, UploadId: s3UploadId };
}

export async function createMultipart(
  { client, bucket }: S3Bucket,
  key: string,
  contentType: string,
  abortSignal: AbortSignal,
): Promise<Multipart> {
  const create = new CreateMultipartUploadCommand({
    Bucket: bucket,
    Key: key,
    ContentType: contentType,
  });
  const { UploadId } = await client.send(create, { abortSignal });
  if (UploadId === undefined) throw new Error('The answer has no UploadId');
  return { key, s3UploadId: UploadId };
}

/** The complete parts, or null if the multipart upload is over. */
export async function listParts(
  s3: S3Bucket,
  multipart: Multipart,
  abortSignal: AbortSignal,
): Promise<readonly S3Part[] | null> {
  const parts: S3Part[] = [];
  let marker: string | undefined;
  try {
    do {
      const list = new ListPartsCommand({
        ...target(s3, multipart),
        ...(marker === undefined ? {} : { PartNumberMarker: marker }),
      });
      const page = await s3.client.send(list, { abortSignal });
      for (const { PartNumber, Size, ETag, LastModified } of page.Parts ?? []) {
        if (PartNumber === undefined || Size === undefined || ETag === undefined) continue;
        const modifiedAtMs = LastModified?.getTime() ?? 0;
        parts.push({ n: PartNumber, bytes: Size, etag: ETag, modifiedAtMs });
      }
      marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
    } while (marker !== undefined);
    return parts;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/**
 * Streams one part. The chunks can be read only once, so there is no retry. False if the multipart
 * upload is over.
 */
export async function uploadPart(
  s3: S3Bucket,
  multipart: Multipart,
  part: PartPlan,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<boolean> {
  const body = Readable.from(chunks, { objectMode: false });
  const request = new AbortController();
  const onAbort = (): void => request.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  let sourceError: Error | null = null;
  // The SDK pipes the body, and a pipe does not forward the error of its source.
  body.once('error', (error) => {
    sourceError = error;
    request.abort();
  });
  const upload = new UploadPartCommand({
    ...target(s3, multipart),
    PartNumber: part.n,
    ContentLength: part.bytes,
    Body: body,
  });
  try {
    await s3.client.send(upload, { abortSignal: request.signal, requestTimeout: 0 });
    return true;
  } catch (error) {
    // After an early answer the connection would still wait for the rest of the body.
    request.abort();
    if (isNotFound(error)) return false;
    throw sourceError ?? error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    body.destroy();
  }
}

/** False if the multipart upload is over. */
export async function completeMultipart(
  s3: S3Bucket,
  multipart: Multipart,
  parts: readonly S3Part[],
  abortSignal: AbortSignal,
): Promise<boolean> {
  const complete = new CompleteMultipartUploadCommand({
    ...target(s3, multipart),
    MultipartUpload: { Parts: parts.map(({ n, etag }) => ({ PartNumber: n, ETag: etag })) },
  });
  try {
    await s3.client.send(complete, { abortSignal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Idempotent. */
export async function abortMultipart(
  s3: S3Bucket,
  multipart: Multipart,
  abortSignal: AbortSignal,
): Promise<void> {
  try {
    await s3.client.send(new AbortMultipartUploadCommand(target(s3, multipart)), { abortSignal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Page by page. Some compatible stores list nothing here unless the prefix is a whole key. */
export async function* listMultiparts(
  { client, bucket }: S3Bucket,
  prefix: string,
  abortSignal: AbortSignal,
): AsyncGenerator<Multipart & { readonly startedAtMs: number }> {
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
  do {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: prefix,
      ...markers,
    });
    const page = await client.send(list, { abortSignal });
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined) continue;
      yield { key: Key, s3UploadId: UploadId, startedAtMs: Initiated?.getTime() ?? 0 };
    }
    const { NextKeyMarker, NextUploadIdMarker } = page;
    markers =
      page.IsTruncated === true && NextKeyMarker !== undefined
        ? {
            KeyMarker: NextKeyMarker,
            ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
          }
        : null;
  } while (markers !== null);
}

/** A URL that accepts only this part: its length is signed, too. */
export async function presignPart(
  s3: S3Bucket,
  multipart: Multipart,
  part: PartPlan,
  expires: { readonly inMs: number; readonly nowMs: number },
): Promise<DirectPut> {
  const upload = new UploadPartCommand({
    ...target(s3, multipart),
    PartNumber: part.n,
    ContentLength: part.bytes,
  });
  const expiresIn = Math.floor(expires.inMs / 1000);
  const url = await getSignedUrl(s3.client, upload, { expiresIn });
  const headers = { 'content-length': String(part.bytes) };
  return { method: 'PUT', url, headers, expiresAtMs: expires.nowMs + expiresIn * 1000 };
}
