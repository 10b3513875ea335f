import { isSensitiveHeader } from '../../../model/credentials/sensitive-headers.ts';
import { decodedHeaderText } from '../../../runtime/net/header-text.ts';
import type { Receiver } from '../../config/variable-targets.ts';
import { type Scrub, shortenedText } from '../../secrets/cut-scrubbed.ts';
import type { OperatorSecrets } from '../../secrets/operator-secrets.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

/** Longer chains are TOO_MANY_REDIRECTS (src/model/README.md, "What passes and what fails"). */
const MAX_REDIRECTS = 10;

const MAX_QUOTED_CHARS = 200;

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that describe the body, dropped if the next request has none. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
]);

export type Redirect =
  | { readonly kind: 'none' }
  /** `left` continues the log sentence: what the next request omits. */
  | { readonly kind: 'follow'; readonly request: HopRequest; readonly left: string }
  /** `why` continues a sentence about the request. */
  | {
      readonly kind: 'refused';
      readonly code: 'TOO_MANY_REDIRECTS' | 'REDIRECT_INVALID' | 'VARIABLE_DENIED';
      readonly why: string;
    };

export const NO_REDIRECT: Redirect = { kind: 'none' };

/**
 * The next request after a redirect, with its method by RFC 9110 15.4 and without credentials for
 * another origin (src/model/README.md, "What passes and what fails"). Credentials that were dropped
 * are not added again by a later redirect.
 *
 * @param followed how many redirects were followed before this response
 * @param scrub for a Location that is quoted in part
 */
export function redirectOf(
  request: HopRequest,
  head: ResponseHead,
  followed: number,
  scrub: Scrub,
): Redirect {
  const cut = (text: string): string => shortenedText(text, MAX_QUOTED_CHARS, scrub);
  const location = head.headers.location;
  if (!REDIRECT_STATUSES.has(head.status) || location === undefined) return NO_REDIRECT;
  if (typeof location !== 'string') return invalid('several different Locations');
  const text = decodedHeaderText(location.trim());
  if (text === '') return invalid('an empty Location');
  if (!URL.canParse(text, request.url.href))
    return invalid(`a Location that is not a URL (${cut(text)})`);
  const url = new URL(text, request.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(`a Location that is neither http nor https (${cut(url.protocol)})`);
  }
  if (followed >= MAX_REDIRECTS) {
    const why = `more than ${MAX_REDIRECTS} redirects were answered in a row`;
    return { kind: 'refused', code: 'TOO_MANY_REDIRECTS', why };
  }
  // Credentials in a Location are not those of the check, and the log would show them.
  url.username = '';
  url.password = '';
  url.hash = '';

  const toGet = becomesGet(request.method, head.status);
  const toOther = url.origin !== request.url.origin;
  const left: string[] = [];
  const headers = request.headers.filter(([name]) => {
    const key = name.toLowerCase();
    if (toGet && BODY_HEADERS.has(key)) return false;
    const isBound = toOther && (key === 'host' || isSensitiveHeader(key));
    if (isBound) left.push(name);
    return !isBound;
  });
  const method = toGet ? 'GET' : request.method;
  const body = toGet ? null : request.body;
  return { kind: 'follow', request: { method, url, headers, body }, left: leftSentence(left) };
}

/**
 * Refuses a redirect that would send values of the agent to where they may not go
 * (VARIABLE_TARGETS).
 *
 * @param receiversOf the hosts that get a request, with a proxy
 */
export function allowedRedirect(
  redirect: Redirect,
  operatorSecrets: OperatorSecrets,
  receiversOf: (request: HopRequest) => readonly Receiver[],
): Redirect {
  if (redirect.kind !== 'follow') return redirect;
  const { request } = redirect;
  const why = operatorSecrets.whyNotOn(request, receiversOf(request));
  return why === null ? redirect : { kind: 'refused', code: 'VARIABLE_DENIED', why };
}

function leftSentence(left: readonly string[]): string {
  if (left.length === 0) return '';
  return `, another origin: ${left.slice(0, 20).join(', ')} left out`;
}

function invalid(what: string): Redirect {
  return { kind: 'refused', code: 'REDIRECT_INVALID', why: `the redirect has ${what}` };
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'HEAD' && method !== 'GET';
  return (status === 301 || status === 302) && method === 'POST';
}
