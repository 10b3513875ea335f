import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { S3Bucket, S3Object } from './s3-bucket.ts';
import { parseParts, S3Refusal, xmlDocument } from './s3-xml.ts';

export type S3Operation =
  | 'PutObject'
  | 'CopyObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'ListObjectsV2'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'ListParts'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'ListMultipartUploads'
  | 'Unknown';

export function operationOf(method: string, url: URL, headers: IncomingHttpHeaders): S3Operation {
  const query = url.searchParams;
  const ofBucket = url.pathname.split('/').length <= 2 || url.pathname.endsWith('/');
  if (ofBucket && method === 'GET') {
    if (query.has('uploads')) return 'ListMultipartUploads';
    return query.get('list-type') === '2' ? 'ListObjectsV2' : 'Unknown';
  }
  if (ofBucket) return 'Unknown';
  const multipart = query.has('uploadId');
  switch (method) {
    case 'PUT':
      if (multipart && query.has('partNumber')) return 'UploadPart';
      return headers['x-amz-copy-source'] === undefined ? 'PutObject' : 'CopyObject';
    case 'GET':
      return multipart ? 'ListParts' : 'GetObject';
    case 'HEAD':
      return 'HeadObject';
    case 'POST':
      if (query.has('uploads')) return 'CreateMultipartUpload';
      return multipart ? 'CompleteMultipartUpload' : 'Unknown';
    case 'DELETE':
      return multipart ? 'AbortMultipartUpload' : 'DeleteObject';
    default:
      return 'Unknown';
  }
}

export interface S3Asked {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly key: string;
  /** The digest the body must have, or UNSIGNED-PAYLOAD. */
  readonly sha256: string;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Null: the body is `body`. */
  readonly file: string | null;
  readonly first: number;
  readonly last: number;
}

function answer(status: number, headers: Readonly<Record<string, string>>, body = ''): S3Answer {
  return { status, headers, body, file: null, first: 0, last: 0 };
}

function document(name: string, content: Parameters<typeof xmlDocument>[1]): S3Answer {
  return answer(200, { 'content-type': 'application/xml' }, xmlDocument(name, content));
}

const iso = (atMs: number): string => new Date(atMs).toISOString();

function announcedBytes(request: IncomingMessage): number {
  const length = request.headers['content-length'];
  if (length === undefined) throw new S3Refusal(411, 'MissingContentLength', 'No length');
  if (String(request.headers['x-amz-content-sha256']).startsWith('STREAMING-')) {
    throw new S3Refusal(501, 'NotImplemented', 'Chunked signatures are not known here');
  }
  return Number(length);
}

function readObject(object: S3Object, headers: IncomingHttpHeaders): S3Answer {
  const { bytes, file } = object;
  const facts = {
    etag: object.etag,
    'content-type': object.contentType,
    'last-modified': new Date(object.modifiedAtMs).toUTCString(),
    'accept-ranges': 'bytes',
  };
  if (headers['if-match'] !== undefined && headers['if-match'] !== object.etag) {
    throw new S3Refusal(412, 'PreconditionFailed', 'The object is another');
  }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if (from === undefined) {
    const whole = { ...facts, 'content-length': String(bytes) };
    return { status: 200, headers: whole, body: '', file, first: 0, last: bytes - 1 };
  }
  const first = Number(from);
  const last = Math.min(to === '' ? bytes - 1 : Number(to), bytes - 1);
  if (first >= bytes) throw new S3Refusal(416, 'InvalidRange', 'The range is outside');
  const part = {
    ...facts,
    'content-length': String(last - first + 1),
    'content-range': `bytes ${first}-${last}/${bytes}`,
  };
  return { status: 206, headers: part, body: '', file, first, last };
}

/** The operations on one bucket, each as in S3's reference. */
export function s3Operations(
  bucket: S3Bucket,
  pageSize: number,
): (operation: S3Operation, asked: S3Asked) => Promise<S3Answer> {
  /** The entries after a marker, and whether there are more. */
  function page<T>(entries: readonly T[], isAfter: (entry: T) => boolean): [T[], boolean] {
    const left = entries.filter(isAfter);
    return [left.slice(0, pageSize), left.length > pageSize];
  }

  function listObjects({ url }: S3Asked): S3Answer {
    const prefix = url.searchParams.get('prefix') ?? '';
    const after = url.searchParams.get('continuation-token') ?? '';
    const keys = [...bucket.objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .sort((a, b) => (a < b ? -1 : 1));
    const [some, more] = page(keys, (key) => key > after);
    return document('ListBucketResult', {
      Prefix: prefix,
      KeyCount: some.length,
      IsTruncated: more,
      NextContinuationToken: more ? (some.at(-1) ?? null) : null,
      Contents: some.map((key) => {
        const { bytes, etag, modifiedAtMs } = bucket.object(key);
        return { Key: key, LastModified: iso(modifiedAtMs), ETag: etag, Size: bytes };
      }),
    });
  }

  function listUploads({ url }: S3Asked): S3Answer {
    const prefix = url.searchParams.get('prefix') ?? '';
    const keyMarker = url.searchParams.get('key-marker') ?? '';
    const idMarker = url.searchParams.get('upload-id-marker') ?? '';
    const uploads = [...bucket.uploads.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (`${a.key}\n${a.id}` < `${b.key}\n${b.id}` ? -1 : 1));
    const [some, more] = page(
      uploads,
      ({ key, id }) => key > keyMarker || (key === keyMarker && id > idMarker),
    );
    return document('ListMultipartUploadsResult', {
      Prefix: prefix,
      IsTruncated: more,
      NextKeyMarker: more ? (some.at(-1)?.key ?? null) : null,
      NextUploadIdMarker: more ? (some.at(-1)?.id ?? null) : null,
      Upload: some.map(({ key, id, startedAtMs }) => ({
        Key: key,
        UploadId: id,
        Initiated: iso(startedAtMs),
      })),
    });
  }

  function listParts({ url, key }: S3Asked): S3Answer {
    const upload = bucket.upload(key, url.searchParams.get('uploadId') ?? '');
    const marker = Number(url.searchParams.get('part-number-marker') ?? 0);
    const all = [...upload.parts].sort(([a], [b]) => a - b);
    const [some, more] = page(all, ([n]) => n > marker);
    return document('ListPartsResult', {
      Key: key,
      UploadId: upload.id,
      IsTruncated: more,
      NextPartNumberMarker: more ? (some.at(-1)?.[0] ?? null) : null,
      Part: some.map(([n, { bytes, etag, modifiedAtMs }]) => ({
        PartNumber: n,
        LastModified: iso(modifiedAtMs),
        ETag: etag,
        Size: bytes,
      })),
    });
  }

  async function putObject({ request, key, sha256 }: S3Asked): Promise<S3Answer> {
    const content = await bucket.receive(request, announcedBytes(request), sha256);
    if (request.headers['if-none-match'] === '*' && bucket.objects.has(key)) {
      throw new S3Refusal(412, 'PreconditionFailed', 'There is one already');
    }
    const contentType = request.headers['content-type'] ?? 'binary/octet-stream';
    bucket.objects.set(key, { ...content, contentType });
    return answer(200, { etag: content.etag });
  }

  async function copyObject({ request, key }: S3Asked): Promise<S3Answer> {
    const source = decodeURIComponent(String(request.headers['x-amz-copy-source']));
    const from = bucket.object(source.replace(/^\/?[^/]+\//, ''));
    const wanted = request.headers['x-amz-copy-source-if-match'];
    if (wanted !== undefined && wanted !== from.etag) {
      throw new S3Refusal(412, 'PreconditionFailed', 'The source is another');
    }
    const copy = await bucket.copy(from, key);
    return document('CopyObjectResult', {
      LastModified: iso(copy.modifiedAtMs),
      ETag: copy.etag,
    });
  }

  async function uploadPart({ request, url, key, sha256 }: S3Asked): Promise<S3Answer> {
    const upload = bucket.upload(key, url.searchParams.get('uploadId') ?? '');
    const part = await bucket.receive(request, announcedBytes(request), sha256);
    bucket.upload(key, upload.id).parts.set(Number(url.searchParams.get('partNumber')), part);
    return answer(200, { etag: part.etag });
  }

  return async (operation, asked) => {
    const { request, url, key } = asked;
    const uploadId = url.searchParams.get('uploadId') ?? '';
    switch (operation) {
      case 'PutObject':
        return putObject(asked);
      case 'CopyObject':
        return copyObject(asked);
      case 'GetObject':
      case 'HeadObject':
        return readObject(bucket.object(key), request.headers);
      case 'DeleteObject':
        bucket.objects.delete(key);
        return answer(204, {});
      case 'ListObjectsV2':
        return listObjects(asked);
      case 'ListMultipartUploads':
        return listUploads(asked);
      case 'ListParts':
        return listParts(asked);
      case 'CreateMultipartUpload': {
        const contentType = request.headers['content-type'] ?? 'binary/octet-stream';
        const upload = bucket.open(key, contentType);
        return document('InitiateMultipartUploadResult', { Key: key, UploadId: upload.id });
      }
      case 'UploadPart':
        return uploadPart(asked);
      case 'CompleteMultipartUpload': {
        const upload = bucket.upload(key, uploadId);
        const object = await bucket.complete(upload, parseParts(await text(request)));
        return document('CompleteMultipartUploadResult', { Key: key, ETag: object.etag });
      }
      case 'AbortMultipartUpload':
        bucket.upload(key, uploadId);
        bucket.uploads.delete(uploadId);
        return answer(204, {});
      case 'Unknown':
        throw new S3Refusal(501, 'NotImplemented', 'This server does not know that operation');
    }
  };
}
