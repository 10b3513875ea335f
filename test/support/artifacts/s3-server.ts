import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { S3Bucket } from './s3-bucket.ts';
import { operationOf, type S3Operation, s3Operations } from './s3-operations.ts';
import { checkSignature, type S3Credentials } from './s3-signature.ts';
import { S3Refusal, xmlDocument } from './s3-xml.ts';

/** A fault to inject into a request or its response. */
export type S3Fault =
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** Cuts the connection after this many bytes of the request's body or of the response's. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Never responds. */
  | { readonly kind: 'silence' }
  /** Serves the request once this resolves. */
  | { readonly kind: 'wait'; readonly until: Promise<void> };

export interface S3ServerOptions {
  readonly folder: string;
  /** Entries per page of every listing. */
  readonly pageSize?: number;
}

export interface S3Server {
  readonly endpoint: string;
  readonly bucketName: string;
  readonly region: string;
  readonly credentials: S3Credentials;
  readonly bucket: S3Bucket;
  /** The operations requested so far, including refused ones. */
  readonly operations: readonly S3Operation[];
  /** Called for each request; the function set last is used. */
  fault(choose: (operation: S3Operation) => S3Fault | null): void;
  close(): Promise<void>;
}

/**
 * A small S3 server with the parts of the protocol that artifacts need: Signature Version 4 of
 * headers and of presigned URLs; objects with ranges, conditions and copies; multipart uploads with
 * S3's rules; paged listings; errors as XML. It implements a subset of S3: the same suite passes on
 * another vendor's store.
 */
export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'an/example+secret' };
  const bucketName = 'artifacts-of-tests';
  const bucket = new S3Bucket(options.folder);
  const operations: S3Operation[] = [];
  const answer = s3Operations(bucket, options.pageSize ?? 1000);
  let chooseFault: (operation: S3Operation) => S3Fault | null = () => null;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const operation = operationOf(request.method ?? '', url, request.headers);
    operations.push(operation);
    const fault = chooseFault(operation);
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'wait') await fault.until;
    if (fault?.kind === 'refuse') throw new S3Refusal(fault.status, fault.code, 'As ordered');
    if (fault?.kind === 'cut' && operation === 'UploadPart') {
      cutAfter(request, fault.afterBytes);
    }
    const sha256 = checkSignature(request, url, credentials);
    const [, name = '', ...rest] = url.pathname.split('/');
    if (name !== bucketName) throw new S3Refusal(404, 'NoSuchBucket', 'There is no such bucket');
    const key = decodeURIComponent(rest.join('/'));
    const result = await answer(operation, { request, url, key, sha256 });
    response.writeHead(result.status, result.headers);
    if (result.file === null || request.method === 'HEAD') {
      response.end(request.method === 'HEAD' ? undefined : result.body);
      return;
    }
    const { file, first, last } = result;
    const end = fault?.kind === 'cut' ? first + fault.afterBytes - 1 : last;
    // A cut response ends before its announced length.
    await pipeline(createReadStream(file, { start: first, end }), response, {
      end: end === last,
    });
    if (end !== last) response.destroy();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return;
      const known = error instanceof S3Refusal;
      const code = known ? error.code : 'InternalError';
      const message = error instanceof Error ? error.message : String(error);
      const document = xmlDocument('Error', { Code: code, Message: message, RequestId: '1' });
      // A server that refuses a body without reading it cannot reuse the connection.
      const headers = { 'content-type': 'application/xml', connection: 'close' };
      response.writeHead(known ? error.status : 500, headers);
      response.end(request.method === 'HEAD' ? undefined : document);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucketName,
    region: 'eu-test-1',
    credentials,
    bucket,
    operations,
    fault(choose) {
      chooseFault = choose;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function cutAfter(request: IncomingMessage, afterBytes: number): void {
  let leftBytes = afterBytes;
  request.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes <= 0) request.socket.destroy();
  });
  request.pause();
}
