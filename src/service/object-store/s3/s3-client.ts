import { S3Client } from '@aws-sdk/client-s3';
import type { Proxies } from '../../../runtime/net/proxy/choose-proxy.ts';
import { tunnelAgents } from './tunnel-agents.ts';

export interface S3Options {
  readonly bucket: string;
  /** The prefix of every key: empty, or letters, digits, hyphens, underscores and slashes, with `/` at the end. */
  readonly prefix: string;
  readonly region: string;
  /** An S3-compatible store's own address, such as http://127.0.0.1:9000. Null: AWS. */
  readonly endpoint: string | null;
  /** The bucket in the path instead of the host name: what most compatible stores need. */
  readonly pathStyle: boolean;
  /** Null: the SDK looks in the environment, the profile and the instance role. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** For agents that upload directly to the object store, by presigned URLs. */
  readonly direct: {
    /** The address of the store for agents, where it differs from the service's. */
    readonly endpoint: string | null;
    /** How long a URL is valid: 1 second to 7 days (SigV4's limit). */
    readonly expiresMs: number;
  } | null;
  /** MIN_PART_BYTES or more; DEFAULT_PART_BYTES. */
  readonly partBytes?: number;
  readonly limits?: Partial<S3Limits>;
}

export interface S3Limits {
  readonly connectTimeoutMs: number;
  /** From the request to the headers of the response, for each attempt. Excludes the body of a part. */
  readonly answerTimeoutMs: number;
  /** How long a connection may be idle, even if it waits for our own reader or source. */
  readonly idleTimeoutMs: number;
  /** Attempts of one request, including the first; a part's stream can be sent only once. */
  readonly attempts: number;
}

const DEFAULT_LIMITS: S3Limits = {
  connectTimeoutMs: 5_000,
  answerTimeoutMs: 60_000,
  idleTimeoutMs: 30_000,
  attempts: 3,
};

/** Otherwise the SDK logs to the console what the errors already contain. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export function s3Limits(options: S3Options): S3Limits {
  return { ...DEFAULT_LIMITS, ...options.limits };
}

export function createS3Client(
  options: S3Options,
  endpoint: string | null,
  proxies: Proxies,
): S3Client {
  const limits = s3Limits(options);
  return new S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    maxAttempts: limits.attempts,
    logger: SILENT,
    // Not all compatible stores support the newer checksums, and the digest of the whole content is verified anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would require a new connection for each part.
    expectContinueHeader: false,
    requestHandler: {
      ...tunnelAgents(proxies, limits.connectTimeoutMs),
      connectionTimeout: limits.connectTimeoutMs,
      requestTimeout: limits.answerTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: limits.idleTimeoutMs,
      logger: SILENT,
    },
    ...(endpoint === null ? {} : { endpoint }),
    ...(options.credentials === null ? {} : { credentials: options.credentials }),
  });
}
