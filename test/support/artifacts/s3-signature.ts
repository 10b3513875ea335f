import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Refusal } from './s3-xml.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 15 * 60_000;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

/** RFC 3986 encoding, as SigV4 requires. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&');
}

function parseTime(text: string): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

interface Signed {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly time: string;
  readonly payload: string;
  readonly expiresMs: number | null;
}

function fromHeaders(request: IncomingMessage): Signed {
  const [, credential, signedHeaders, signature] =
    AUTHORIZATION.exec(request.headers.authorization ?? '') ?? [];
  if (credential === undefined || signedHeaders === undefined || signature === undefined) {
    throw new S3Refusal(403, 'AccessDenied', 'The request is not signed');
  }
  const time = String(request.headers['x-amz-date']);
  const payload = String(request.headers['x-amz-content-sha256']);
  return { credential, signedHeaders, signature, time, payload, expiresMs: null };
}

function fromQuery(url: URL): Signed {
  const query = (name: string): string => url.searchParams.get(`X-Amz-${name}`) ?? '';
  if (query('Algorithm') !== ALGORITHM) {
    throw new S3Refusal(400, 'AuthorizationQueryParametersError', 'Unknown algorithm');
  }
  return {
    credential: query('Credential'),
    signedHeaders: query('SignedHeaders'),
    signature: query('Signature'),
    time: query('Date'),
    payload: query('Content-Sha256') === '' ? 'UNSIGNED-PAYLOAD' : query('Content-Sha256'),
    expiresMs: Number(query('Expires')) * 1000,
  };
}

/**
 * Checks an AWS Signature Version 4, of the headers or of a presigned URL, against the raw request.
 * Returns the digest that its body must have: hexadecimal, or UNSIGNED-PAYLOAD.
 */
export function checkSignature(
  request: IncomingMessage,
  url: URL,
  { accessKeyId, secretAccessKey }: S3Credentials,
): string {
  const presigned = url.searchParams.has('X-Amz-Signature');
  const signed = presigned ? fromQuery(url) : fromHeaders(request);
  const [keyId, date = '', region = '', service = '', end = ''] = signed.credential.split('/');
  if (keyId !== accessKeyId) throw new S3Refusal(403, 'InvalidAccessKeyId', 'Unknown key');
  const ageMs = Date.now() - parseTime(signed.time);
  if (signed.expiresMs === null ? Math.abs(ageMs) > MAX_SKEW_MS : ageMs > signed.expiresMs) {
    const code = signed.expiresMs === null ? 'RequestTimeTooSkewed' : 'AccessDenied';
    throw new S3Refusal(403, code, 'The request has expired');
  }
  const names = signed.signedHeaders.split(';');
  if (!names.includes('host')) throw new S3Refusal(403, 'AccessDenied', 'host is not signed');
  const headers = names.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? '')
        .trim()
        .replaceAll(/ +/g, ' ')}\n`,
  );
  const canonical = [
    request.method,
    url.pathname,
    canonicalQuery(url),
    headers.join(''),
    signed.signedHeaders,
    signed.payload,
  ].join('\n');
  const scope = `${date}/${region}/${service}/${end}`;
  const key = [region, service, end].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    hmac(`AWS4${secretAccessKey}`, date),
  );
  const toSign = [ALGORITHM, signed.time, scope, sha256(canonical)].join('\n');
  if (hmac(key, toSign).toString('hex') !== signed.signature) {
    throw new S3Refusal(403, 'SignatureDoesNotMatch', 'The signature is not that of the request');
  }
  return signed.payload;
}
