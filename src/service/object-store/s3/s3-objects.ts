import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isConditionFailed, isNotFound, isNotImplemented } from './s3-errors.ts';

export interface S3Bucket {
  readonly client: S3Client;
  readonly bucket: string;
}

export interface S3ObjectFacts {
  readonly bytes: number;
  readonly contentType: string;
  readonly modifiedAtMs: number;
}

export interface ListedObject {
  readonly key: string;
  readonly modifiedAtMs: number;
}

/** Null if there is none. */
export async function headObject(
  { client, bucket }: S3Bucket,
  key: string,
  abortSignal: AbortSignal,
): Promise<S3ObjectFacts | null> {
  try {
    const head = new HeadObjectCommand({ Bucket: bucket, Key: key });
    const found = await client.send(head, { abortSignal });
    return {
      bytes: found.ContentLength ?? 0,
      contentType: found.ContentType ?? 'application/octet-stream',
      modifiedAtMs: found.LastModified?.getTime() ?? 0,
    };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/**
 * Reads the bytes `first` to `last`, both inclusive; null if there is no such object. Needs no condition on the
 * ETag: the object of a key never changes here, and not every compatible store has a constant ETag for objects
 * uploaded in parts.
 */
export async function readObject(
  { client, bucket }: S3Bucket,
  key: string,
  range: { readonly first: number; readonly last: number },
  abortSignal: AbortSignal,
): Promise<Readable | null> {
  try {
    const found = await client.send(
      new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        Range: `bytes=${range.first}-${range.last}`,
      }),
      { abortSignal },
    );
    // In Node the body is an IncomingMessage; the SDK's type also covers browsers.
    return (found.Body as Readable | undefined) ?? null;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Null if there is none. Only for small objects. */
export async function readText(
  { client, bucket }: S3Bucket,
  key: string,
  abortSignal: AbortSignal,
): Promise<string | null> {
  try {
    const found = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), {
      abortSignal,
    });
    return (await found.Body?.transformToString()) ?? '';
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/**
 * Writes an object unless it exists; returns whether it was written. A store without conditional writes always
 * overwrites, and the last writer wins.
 */
export async function putTextUnlessThere(
  { client, bucket }: S3Bucket,
  key: string,
  text: string,
  abortSignal: AbortSignal,
): Promise<boolean> {
  const object = { Bucket: bucket, Key: key, Body: text, ContentType: 'application/json' };
  try {
    await client.send(new PutObjectCommand({ ...object, IfNoneMatch: '*' }), { abortSignal });
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    if (!isNotImplemented(error)) throw error;
    await client.send(new PutObjectCommand(object), { abortSignal });
    return true;
  }
}

/** Copies within the bucket, with the content type. Returns whether there was a source. */
export async function copyObject(
  { client, bucket }: S3Bucket,
  from: string,
  to: string,
  abortSignal: AbortSignal,
): Promise<boolean> {
  try {
    const copy = new CopyObjectCommand({
      Bucket: bucket,
      Key: to,
      CopySource: `${bucket}/${from}`,
    });
    await client.send(copy, { abortSignal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Idempotent. */
export async function deleteObject(
  { client, bucket }: S3Bucket,
  key: string,
  abortSignal: AbortSignal,
): Promise<void> {
  try {
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Page by page, in the order of the keys. */
export async function* listObjects(
  { client, bucket }: S3Bucket,
  prefix: string,
  abortSignal: AbortSignal,
): AsyncGenerator<ListedObject> {
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
      { abortSignal },
    );
    for (const { Key, LastModified } of page.Contents ?? []) {
      if (Key !== undefined) yield { key: Key, modifiedAtMs: LastModified?.getTime() ?? 0 };
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}
