import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type PageColors, styleOf } from '../../../web/status/style.ts';
import { type Encoded, sendEncoded } from '../../http/handbook/responses.ts';
import type { RequestedPage } from './requested-page.ts';

/** Caches in between may serve it for 15 s, and for a minute more while they ask again. */
const SHARED = 'public, max-age=15, stale-while-revalidate=60';
/** Must not be cached, since access to the page may change. */
const PRIVATE = 'private, no-store';

export interface SentAs {
  /** The media type. */
  readonly type: string;
  readonly page: RequestedPage;
}

/** Sends a document of a status page, or 304 to a client that has it. Sets no cookie. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Encoded & { readonly staleMs?: number },
  { type, page: { page } }: SentAs,
) {
  const { staleMs = 0 } = document;
  // RFC 9111 5.1. A current document has the age 0.
  if (staleMs > 0) reply.header('age', Math.floor(staleMs / 1_000));
  reply.header('content-security-policy', policyOf(page.fields)).type(type);
  return sendEncoded(request, reply, document, page.fields.isPrivate ? PRIVATE : SHARED);
}

const policies = new WeakMap<PageColors, string>();

/** A page may have its style and pictures, and send forms to itself. It runs no script. */
export function policyOf(colors: PageColors): string {
  const known = policies.get(colors);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(styleOf(colors)).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
  policies.set(colors, policy);
  return policy;
}
