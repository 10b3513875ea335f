import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { checkSignature, type S3Credentials } from '../artifacts/s3-signature.ts';
import { S3Refusal } from '../artifacts/s3-xml.ts';

export interface BucketServer {
  readonly endpoint: string;
  /** All buckets, in the order of their creation. */
  readonly buckets: readonly string[];
}

/**
 * The part of S3 that creates buckets: signed HEAD and PUT of `/name`. Ends with the test.
 * @param busyFor this many requests get 503 first
 */
export async function startBucketServer(
  credentials: S3Credentials,
  { busyFor = 0 }: { readonly busyFor?: number } = {},
): Promise<BucketServer> {
  const buckets: string[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const name = url.pathname.replaceAll('/', '');
    const answer = (): number => {
      asked += 1;
      if (asked <= busyFor) return 503;
      checkSignature(request, url, credentials);
      if (request.method === 'HEAD') return buckets.includes(name) ? 200 : 404;
      if (request.method !== 'PUT') return 501;
      if (buckets.includes(name)) return 409;
      buckets.push(name);
      return 200;
    };
    try {
      response.writeHead(answer());
    } catch (error) {
      if (!(error instanceof S3Refusal)) throw error;
      response.writeHead(error.status);
    }
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, buckets };
}
