import type { Check } from '../../model/check/check.ts';
import type { ApiRequest } from '../../model/check/request.ts';
import { afterScheme, percentDecoded } from '../../model/credentials/credential-text.ts';
import { isSensitiveHeader } from './sensitive-headers.ts';
import { credentialsOf } from './url-credentials.ts';

/** What a request shows its target to be let in, declared secret or not. */
export interface RequestCredentials {
  /** The secrets themselves: tokens, passwords, values of cookies. */
  readonly parts: readonly string[];
  /** What they are sent in: whole headers, `user:password`. */
  readonly wholes: readonly string[];
}

const NONE: RequestCredentials = { parts: [], wholes: [] };
const BASIC = /^basic[ \t]+([\w+/-]+={0,2})$/i;

/**
 * The credentials of an attempt's request, templates filled in: headers whose values are never shown
 * (Authorization, Cookie, X-API-Key and the like), `basicAuth`, and the userinfo of the url. The
 * target may repeat them wherever it likes.
 */
export function credentialsOfRequest(check: Check): RequestCredentials {
  switch (check.checkType) {
    case 'URL':
      return ofUrl(check.request.url);
    case 'API':
      return ofApiRequest(check.request);
    case 'TCP':
    case 'DNS':
    case 'ICMP':
      return NONE;
  }
}

function ofApiRequest({ url, headers, basicAuth }: ApiRequest): RequestCredentials {
  const found = headers
    .filter(({ key, value }) => value !== '' && isSensitiveHeader(key))
    .map(({ key, value }) => ofHeader(key, value.trim()));
  if (basicAuth !== null) found.push(ofPair(basicAuth.username, basicAuth.password));
  found.push(ofUrl(url));
  const used = found.filter((one) => one !== NONE);
  if (used.length === 0) return NONE;
  return {
    parts: used.flatMap(({ parts }) => parts),
    wholes: used.flatMap(({ wholes }) => wholes),
  };
}

function ofHeader(name: string, value: string): RequestCredentials {
  if (/cookie/i.test(name)) return { parts: cookieValues(value), wholes: [value] };
  const token = afterScheme(value);
  if (token === null) return { parts: [value], wholes: [] };
  const decoded = BASIC.exec(value)?.[1];
  const pair = decoded === undefined ? NONE : ofBasic(decoded);
  return { parts: [token, ...pair.parts], wholes: [value, ...pair.wholes] };
}

/** RFC 6265 4.2.1; a value may be quoted, and is often URL-encoded. */
function cookieValues(header: string): readonly string[] {
  return header.split(';').flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim();
    const bare = value.replace(/^"(.*)"$/s, '$1');
    return [value, bare, percentDecoded(bare)].filter((one) => one !== '');
  });
}

/** RFC 7617 2. What is no `user:password` is a token. */
function ofBasic(token: string): RequestCredentials {
  const bytes = Buffer.from(token, 'base64');
  const utf8 = bytes.toString('utf8');
  const text = utf8.includes('\ufffd') ? bytes.toString('latin1') : utf8;
  const colon = text.indexOf(':');
  return colon === -1 ? NONE : ofPair(text.slice(0, colon), text.slice(colon + 1));
}

/** As of urls: a user name beside a password is a word like `monitor`, and alone it is a token. */
function ofPair(username: string, password: string): RequestCredentials {
  const secret = password === '' ? username : password;
  return secret === '' ? NONE : { parts: [secret], wholes: [`${username}:${password}`] };
}

function ofUrl(text: string): RequestCredentials {
  if (!text.includes('@') || !URL.canParse(text)) return NONE;
  const { username, password } = new URL(text);
  const { parts, wholes } = ofPair(percentDecoded(username), percentDecoded(password));
  return parts.length === 0 ? NONE : { parts: [...credentialsOf(text), ...parts], wholes };
}
