import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip as gzipCallback,
  gzipSync,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STYLE } from '../../../handbook/html/style.ts';
import { acceptedCoding, addVary, type Coding } from '../content-coding.ts';

const brotli = promisify(brotliCompress);
const gzip = promisify(gzipCallback);

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** A page may have its style and its icon, and send its search form to the service. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/** Higher ones would hold up other requests for seconds. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } } as const;

/** A document as it is sent: all who read it share these bytes, however slowly they do. */
export interface Encoded {
  readonly plain: Buffer;
  readonly packed: Readonly<Record<Coding, Buffer>>;
  /** The entity tag of the plain form, without quotes. */
  readonly tag: string;
}

export function encoded(content: string | Buffer): Encoded {
  const packed = { br: brotliCompressSync(content, BROTLI), gzip: gzipSync(content) };
  return { plain: Buffer.from(content), packed, tag: tagOf(content) };
}

/** The same for a long document, which other threads compress while requests are answered. */
export async function encodedByThreads(content: string): Promise<Encoded> {
  const [br, zipped] = await Promise.all([brotli(content, BROTLI), gzip(content)]);
  return { plain: Buffer.from(content), packed: { br, gzip: zipped }, tag: tagOf(content) };
}

function tagOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/**
 * Clients may keep it, and ask whether it has changed (RFC 9110, 13.1.2): each time, unless
 * `cacheControl` says else.
 */
export function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Encoded,
  cacheControl = 'no-cache',
) {
  const coding = acceptedCoding(request.headers);
  const etag = `"${document.tag}${coding === null ? '' : `-${coding}`}"`;
  addVary(reply, 'accept-encoding');
  reply.headers({ 'cache-control': cacheControl, etag });
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (coding === null) return reply.send(document.plain);
  return reply.header('content-encoding', coding).send(document.packed[coding]);
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** The page of the API may also run its script, which sends requests to the service. */
const SCRIPT_POLICY = `${POLICY}; script-src 'self'; connect-src 'self'`;

/** For pages of the handbook and of the API. */
export function asPage(reply: FastifyReply, runs: 'script' | 'no script' = 'no script') {
  const policy = runs === 'script' ? SCRIPT_POLICY : POLICY;
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8');
}
