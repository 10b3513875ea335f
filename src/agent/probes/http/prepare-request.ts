import type { ApiRequest, UrlRequest } from '../../../model/check/request/http.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { isSensitiveHeader } from '../../../model/credentials/sensitive-headers.ts';
import type { FamilyChoice } from '../../../model/enums.ts';
import type { HttpRequestEcho } from '../../../model/result/details/http-detail.ts';
import { percentDecoded } from '../../../runtime/text/percent-decoded.ts';
import { VERSION } from '../../../runtime/version.ts';
import { cutScrubbed, NOT_SCRUBBED, type Scrub } from '../../secrets/cut-scrubbed.ts';
import { SUPPORTED_CODINGS } from './body/decoding/codings.ts';

type Header = readonly [string, string];

/** A request as it goes on the wire, except for what the connection itself adds (Host). */
export interface PreparedRequest {
  readonly method: string;
  /** Without userinfo and fragment. */
  readonly url: URL;
  /** In the order and spelling given; repeated fields are repeated. */
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
  readonly followRedirects: boolean;
  readonly skipSSL: boolean;
  readonly ipFamily: FamilyChoice;
  readonly echo: HttpRequestEcho;
  /** The agent's header, if it is sent. */
  readonly traceparent?: string;
  /** Sentences for the job log about parts of the check's request that are not sent unchanged. */
  readonly notes: readonly string[];
}

/** Limit for a request's url, body or single value in a result. */
const MAX_ECHO_BYTES = 10 * 1024;

/** The agent sets framing and connection itself: a check that sets them would break both. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

const CONTENT_TYPES: Readonly<Record<ApiRequest['bodyType'], string | null>> = {
  JSON: 'application/json',
  GRAPHQL: 'application/json',
  FORM: 'application/x-www-form-urlencoded',
  RAW: null,
  NONE: null,
};

/** Defaults of a URL check for the parts that only API checks have. */
const URL_CHECK_PARTS = {
  headers: [],
  queryParameters: [],
  bodyType: 'NONE',
  body: '',
  basicAuth: null,
  auth: null,
} as const satisfies Partial<ApiRequest>;

/**
 * Makes the request of a URL or API check: query, credentials, body and headers
 * (src/model/README.md, "API: `request`"). A header of the check takes precedence over everything
 * else that sets it, `auth` and `basicAuth` over the userinfo of the url. The echo is for the
 * result: sensitive headers are masked, long parts cut at 10 KB.
 *
 * @param scrub for parts of the echo that are cut
 * @param traceparent sent if the check asks for it
 */
export function prepareRequest(
  request: UrlRequest | ApiRequest,
  scrub: Scrub = NOT_SCRUBBED,
  traceparent: string | undefined = undefined,
): PreparedRequest {
  const parts = 'headers' in request ? request : { ...URL_CHECK_PARTS, ...request };
  const notes: string[] = [];
  const url = new URL(parts.url);
  const credentials = parts.auth === null ? (parts.basicAuth ?? userinfoOf(url)) : null;
  // Each setter parses the whole URL again.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.href.includes('#')) url.hash = '';
  appendQuery(url, parts.queryParameters);
  const body = bodyOf(parts.bodyType, parts.body);

  const isPlain = parts.headers.length === 0 && credentials === null && parts.bodyType === 'NONE';
  const headers = isPlain ? [...PLAIN_HEADERS] : headersOf(parts, credentials, notes);
  // RFC 9110 8.6: methods that give a body a meaning send its length even if it is empty.
  if (body !== null || METHODS_WITH_BODY.has(parts.method)) {
    headers.push(['content-length', String(body?.length ?? 0)]);
  }

  const sent = parts.traceparent && !hasHeader(headers, 'traceparent') ? traceparent : undefined;
  if (sent !== undefined) headers.push(['traceparent', sent]);

  if (parts.auth !== null && parts.headers.some(({ key }) => isAuthorization(key))) {
    notes.push('The header Authorization of the check replaces auth.');
  }
  const { method, followRedirects, skipSSL, ipFamily } = parts;
  const echo: HttpRequestEcho = {
    method,
    url: echoed(url.href, scrub),
    data: echoed(body?.toString('utf8') ?? '', scrub),
    headers: echoedHeaders(headers, scrub),
    params: merged(
      parts.queryParameters.map(({ key, value }) => [key, value]),
      scrub,
    ),
  };
  return {
    ...{ method, url, headers, body, followRedirects, skipSSL, ipFamily, echo, notes },
    ...(sent === undefined ? {} : { traceparent: sent }),
  };
}

function hasHeader(headers: readonly Header[], name: string): boolean {
  return headers.some(([known]) => known.toLowerCase() === name);
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}

/** Headers of every request that does not set them itself. */
const PLAIN_HEADERS: readonly Header[] = [
  ['accept', '*/*'],
  ['accept-encoding', SUPPORTED_CODINGS.join(', ')],
  ['user-agent', `vedette/${VERSION}`],
];

function headersOf(
  parts: Pick<ApiRequest, 'headers' | 'bodyType'>,
  credentials: ApiRequest['basicAuth'],
  notes: string[],
): Header[] {
  const headers = parts.headers.flatMap(({ key, value }): Header[] => {
    if (!OWN_HEADERS.has(key.toLowerCase())) return [[key, value.trim()]];
    notes.push(`The header ${key} was left out: the agent sets it itself.`);
    return [];
  });
  dropRepeatedHost(headers, notes);
  const addDefault = (name: string, value: string | null): void => {
    if (value !== null && !hasHeader(headers, name)) headers.push([name, value]);
  };
  addDefault('content-type', CONTENT_TYPES[parts.bodyType]);
  addDefault('authorization', basicAuthorization(credentials));
  for (const [name, value] of PLAIN_HEADERS) addDefault(name, value);
  return headers;
}

function userinfoOf(url: URL): ApiRequest['basicAuth'] {
  if (url.username === '' && url.password === '') return null;
  return { username: percentDecoded(url.username), password: percentDecoded(url.password) };
}

/** The check's own query text stays byte for byte: signatures may depend on its spelling. */
function appendQuery(url: URL, parameters: ApiRequest['queryParameters']): void {
  if (parameters.length === 0) return;
  const added = parameters.map(({ key, value }) => `${uriEncoded(key)}=${uriEncoded(value)}`);
  const existing = url.search.replace(/^\?/, '').replace(/&$/, '');
  url.search = [existing, ...added].filter((part) => part !== '').join('&');
}

function uriEncoded(text: string): string {
  // encodeURIComponent throws on a lone surrogate; the conversion to bytes replaces it by U+FFFD.
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
}

/** Empty text sends no body: an empty JSON document or GraphQL query does not exist. */
function bodyOf(bodyType: ApiRequest['bodyType'], text: string): Buffer | null {
  if (bodyType === 'NONE' || text === '') return null;
  const isQuery = bodyType === 'GRAPHQL' && !isGraphqlRequest(text);
  return Buffer.from(isQuery ? JSON.stringify({ query: text }) : text, 'utf8');
}

function isGraphqlRequest(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && Object.hasOwn(value, 'query');
  } catch {
    return false;
  }
}

/** RFC 7617, with UTF-8. Two empty parts mean no credentials. */
function basicAuthorization(credentials: ApiRequest['basicAuth']): string | null {
  if (credentials === null) return null;
  const { username, password } = credentials;
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/** RFC 9112 3.2: a request has one Host. */
function dropRepeatedHost(headers: Header[], notes: string[]): void {
  const isHost = ([name]: Header): boolean => name.toLowerCase() === 'host';
  const first = headers.findIndex(isHost);
  for (let at = headers.length - 1; at > first; at -= 1) {
    const header = headers[at];
    if (first === -1 || header === undefined || !isHost(header)) continue;
    headers.splice(at, 1);
    notes.push('A second Host header was left out: a request has one.');
  }
}

function echoedHeaders(headers: readonly Header[], scrub: Scrub): Record<string, string> {
  return merged(
    headers.map(([name, value]) => [name, isSensitiveHeader(name) ? MASK : value]),
    scrub,
  );
}

/** Joins repeated names, whatever their case, under the first spelling. */
function merged(pairs: readonly Header[], scrub: Scrub): Record<string, string> {
  const byName = new Map<string, [string, string]>();
  for (const [name, value] of pairs) {
    const known = byName.get(name.toLowerCase());
    if (known === undefined) byName.set(name.toLowerCase(), [name, value]);
    else known[1] = `${known[1]}, ${value}`;
  }
  // fromEntries defines own properties, so a name like __proto__ is a name like any other.
  return Object.fromEntries(
    [...byName.values()].map(([name, value]) => [name, echoed(value, scrub)]),
  );
}

function echoed(text: string, scrub: Scrub): string {
  const cut = cutScrubbed(text, MAX_ECHO_BYTES, { scrub });
  return cut === text ? text : `${cut}… (cut at ${MAX_ECHO_BYTES} bytes)`;
}
