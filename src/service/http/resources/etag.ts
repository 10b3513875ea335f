import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors.ts';
import { NEW_NAMES } from './deprecated-names.ts';
import { sortedJson } from './sorted-json.ts';
import { isStateField } from './state-fields.ts';
import { withoutWarnings } from './warnings.ts';

/** 132 bits of SHA-256, enough to exclude collisions. */
const ETAG_CHARS = 22;

/**
 * Checks the preconditions of a request. The feature calls it in the transaction that writes, after it has
 * locked the resource.
 *
 * @param views the forms in which reads may return the resource; none if it does not exist
 * @throws ServiceError 412
 */
export type Precondition<Stored> = (...views: readonly Stored[]) => void;

/** 66 bits suffice: they are only compared between reads of the same content. */
const STATE_CHARS = 11;

/**
 * State fields of several resources; those of one are declared with it. A further failure of an error group is not
 * among them: a user who archives a group must have seen it.
 */
const STATE_FIELDS: ReadonlySet<string> = new Set([
  'lastSignInAt',
  'lastUsedAt',
  'rootCauseAnalyses',
  'servedChecks',
  'silentSince',
  // The old names of some.
  ...Object.entries(NEW_NAMES).flatMap(([old, name]) => (/^last(?!Seen)/.test(name) ? [old] : [])),
]);

/**
 * Returns the validator of a resource as it is shown: a hash of its content, independent of the order of keys,
 * followed by a dot and a hash of its state, if it has any. Preconditions of writes use only the content; otherwise
 * a user who is active could never be changed. Roles that see different content have different validators.
 * Warnings are part of neither hash.
 */
export function etagOf(shown: unknown): string {
  const { content, state } = partsOf(withoutWarnings(shown));
  const first = hashed(content, ETAG_CHARS);
  return state === null ? `"${first}"` : `"${first}.${hashed(state, STATE_CHARS)}"`;
}

function partsOf(shown: unknown): { readonly content: unknown; readonly state: object | null } {
  if (typeof shown !== 'object' || shown === null) return { content: shown, state: null };
  const entries = Object.entries(shown);
  const isState = (name: string): boolean => STATE_FIELDS.has(name) || isStateField(name);
  const changing = entries.filter(([name]) => isState(name));
  if (changing.length === 0) return { content: shown, state: null };
  const lasting = entries.filter(([name]) => !isState(name));
  return { content: Object.fromEntries(lasting), state: Object.fromEntries(changing) };
}

function hashed(value: unknown, chars: number): string {
  return createHash('sha256').update(sortedJson(value)).digest('base64url').slice(0, chars);
}

/** Whether the header of If-Match or If-None-Match names the validator, or any by `*`. */
export function isListed(header: string, etag: string): boolean {
  return namesAny(header, (one) => one === etag);
}

/** Like `isListed`, but compares only the content, not the state. */
function namesContent(header: string, etag: string): boolean {
  const contentOf = (one: string): string => one.replace(/\.[\w-]+"$/, '"');
  return namesAny(header, (one) => contentOf(one) === contentOf(etag));
}

function namesAny(header: string, isIt: (etag: string) => boolean): boolean {
  if (header.trim() === '*') return true;
  // Ignores the mark of weak validators (`W/`), which proxies add when they compress a response.
  return header.split(',').some((one) => isIt(one.trim().replace(/^W\//, '')));
}

/**
 * If-Match and If-None-Match of a request that writes (RFC 9110 13.1.1, 13.1.2); undefined without both.
 *
 * @param show presents the resource to the caller of the request
 */
export function preconditionOf<Stored>(
  { headers }: Pick<FastifyRequest, 'headers'>,
  show: (stored: Stored) => unknown,
): Precondition<Stored> | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return (...views) => {
    const etags = views.map((stored) => etagOf(show(stored)));
    const isNamed = (header: string): boolean => etags.some((etag) => namesContent(header, etag));
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
