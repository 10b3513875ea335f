import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { ProbeContext } from '../../probe.ts';
import type { HopRequest } from '../transport.ts';
import type { Authorized, Authorizer } from './authorizer.ts';

export interface AwsSigV4Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Belongs to temporary credentials; empty for others. */
  readonly sessionToken: string;
  readonly region: string;
  readonly service: string;
}

type Data = string | ArrayBuffer | ArrayBufferView;

/** SHA-256 and HMAC in the form that the signer requires. */
class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = hashWith(secret);
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    this.#hash = hashWith(this.#secret);
  }
}

function hashWith(secret: Data | undefined): Hash | Hmac {
  return secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
}

function bytesOf(data: Data): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Signs each request by AWS Signature Version 4, with the agent's clock. */
export class AwsSigV4Auth implements Authorizer {
  readonly #isS3: boolean;
  readonly #signer: SignatureV4;

  constructor({ region, service, sessionToken, ...credentials }: AwsSigV4Credentials) {
    // S3 requires the hash of the body, and encodes paths once; the other services encode them
    // twice.
    const isS3 = service === 's3';
    this.#isS3 = isS3;
    this.#signer = new SignatureV4({
      credentials: { ...credentials, ...(sessionToken === '' ? {} : { sessionToken }) },
      region,
      service,
      sha256: Sha256,
      uriEscapePath: !isS3,
      applyChecksum: isS3,
    });
  }

  async authorize(request: HopRequest, { clock, learnSecrets }: ProbeContext): Promise<Authorized> {
    const { method, body } = request;
    const url = this.#isS3 ? encodedForS3(request.url) : request.url;
    const given = signedHeaders(request);
    const signed = await this.#signer.sign(
      {
        method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query: queryOf(url.search),
        headers: Object.fromEntries(given),
        body: body ?? '',
      },
      { signingDate: new Date(clock.wallMs()) },
    );
    const known = new Map(given);
    const headers = Object.entries(signed.headers).filter(
      ([name, value]) => known.get(name) !== value,
    );
    const signatures = headers.map(([, value]) => /Signature=(\w+)/.exec(value)?.[1] ?? '');
    await learnSecrets?.(signatures.filter((one) => one !== ''));
    return { ok: true, headers, url };
  }

  asksAgain(): boolean {
    return false;
  }

  accept(): void {}
}

/** Host, Content-Type and the headers of AWS: a proxy may change the others. */
function signedHeaders({ url, headers }: HopRequest): readonly (readonly [string, string])[] {
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const isSigned = (name: string): boolean =>
    name === 'host' || name === 'content-type' || name.startsWith('x-amz-');
  const chosen = lower.filter(([name]) => isSigned(name));
  return chosen.some(([name]) => name === 'host') ? chosen : [['host', url.host], ...chosen];
}

/**
 * S3 signs the object key in the encoding of RFC 3986, which leaves only letters, digits and `-._~`
 * as they are. A URL may also contain other characters unencoded, such as `(` and `+`.
 */
function encodedForS3(url: URL): URL {
  const encoded = new URL(url);
  encoded.pathname = url.pathname
    .split('/')
    .map((segment) => encodeURIComponent(decoded(segment)).replaceAll('%2F', '/'))
    .join('/')
    .replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded;
}

function queryOf(search: string): Record<string, string | string[]> {
  const query = new Map<string, string[]>();
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decoded(at === -1 ? pair : pair.slice(0, at));
    query.set(name, [...(query.get(name) ?? []), decoded(at === -1 ? '' : pair.slice(at + 1))]);
  }
  return Object.fromEntries(query);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
