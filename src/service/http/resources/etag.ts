import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors.ts';
import { sortedJson } from './sorted-json.ts';
import { withoutWarnings } from './warnings.ts';

/** 132 bits of SHA-256, which nobody finds two resources for. */
const ETAG_CHARS = 22;

/**
 * Checks what a request requires of a resource. Its feature calls it in the transaction that writes, once
 * the resource is locked.
 *
 * @param views what reads may return of the resource; none where it does not exist
 * @throws ServiceError 412
 */
export type Precondition<Stored> = (...views: readonly Stored[]) => void;

/**
 * The validator of a resource as it is shown: a hash of its content, with the keys of objects in any
 * order. Roles that see other content have other validators. Warnings are not content: they change
 * without a write.
 */
export function etagOf(shown: unknown): string {
  const hash = createHash('sha256').update(sortedJson(withoutWarnings(shown)));
  return `"${hash.digest('base64url').slice(0, ETAG_CHARS)}"`;
}

/** Whether the header of If-Match or If-None-Match names the validator, or any by `*`. */
export function isListed(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  // Proxies that compress responses mark our validators as weak (`W/`): the content is still the same.
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

/**
 * If-Match and If-None-Match of a request that writes (RFC 9110 13.1.1, 13.1.2); undefined without both.
 *
 * @param show what the caller of the request sees of the resource
 */
export function preconditionOf<Stored>(
  { headers }: Pick<FastifyRequest, 'headers'>,
  show: (stored: Stored) => unknown,
): Precondition<Stored> | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return (...views) => {
    const etags = views.map((stored) => etagOf(show(stored)));
    const isNamed = (header: string): boolean => etags.some((etag) => isListed(header, etag));
    const isRefused = ifNoneMatch !== undefined && isNamed(ifNoneMatch);
    const isMissed = ifMatch !== undefined && !isNamed(ifMatch);
    if (isRefused || isMissed) throw preconditionFailed(etags[0] ?? null, isRefused);
  };
}

function preconditionFailed(etag: string | null, isRefused: boolean): ServiceError {
  const message =
    etag === null
      ? 'If-Match requires a resource that does not exist: it was deleted, or never created'
      : isRefused
        ? 'The resource is the one that If-None-Match excludes'
        : 'The resource has changed since it was read with the ETag in If-Match: read it again, and repeat the change if it still applies';
  return new ServiceError(412, message, {
    attributes: { etag },
    headers: etag === null ? {} : { etag },
  });
}
