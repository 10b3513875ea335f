import type { Check } from '../../model/check/check.ts';
import type { ApiRequest } from '../../model/check/request/http.ts';
import { type RequestAuth, SECRET_AUTH_FIELDS } from '../../model/check/request/request-auth.ts';
import { afterScheme } from '../../model/credentials/credential-text.ts';
import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import { percentDecoded } from '../../runtime/text/percent-decoded.ts';

/** The credentials that a request sends, declared secret or not. */
export interface SentCredentials {
  /** Tokens, passwords, values of cookies. */
  readonly parts: readonly string[];
  /** The texts that contain them: whole headers, `user:password`. */
  readonly wholes: readonly string[];
}

const NONE: SentCredentials = { parts: [], wholes: [] };
const BASIC = /^basic[ \t]+([\w+/-]+={0,2})$/i;

/**
 * The credentials of a rendered request, which its target may repeat anywhere: sensitive headers
 * (`isSensitiveHeader`), `basicAuth`, and user and password in the url.
 */
export function sentCredentialsOf(check: Check): SentCredentials {
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

function ofApiRequest({ url, headers, basicAuth, auth }: ApiRequest): SentCredentials {
  const found = headers
    .filter(({ key, value }) => value !== '' && isSensitiveHeader(key))
    .map(({ key, value }) => ofHeader(key, value.trim()));
  if (basicAuth !== null) found.push(ofPair(basicAuth.username, basicAuth.password));
  if (auth !== null) found.push(ofAuth(auth));
  found.push(ofUrl(url));
  return {
    parts: found.flatMap(({ parts }) => parts),
    wholes: found.flatMap(({ wholes }) => wholes),
  };
}

/** The secrets of `auth`, sent or not, and the pairs that are sent. */
function ofAuth(auth: RequestAuth): SentCredentials {
  const { username = '', password, clientId = '', clientSecret } = auth;
  return {
    parts: SECRET_AUTH_FIELDS.flatMap((name) => auth[name] ?? []),
    wholes: [
      ...(password === undefined ? [] : [`${username}:${password}`]),
      ...(clientSecret === undefined ? [] : [`${clientId}:${clientSecret}`]),
    ],
  };
}

function ofHeader(name: string, value: string): SentCredentials {
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

/** RFC 7617 2. Without a colon it is a token. */
function ofBasic(token: string): SentCredentials {
  const bytes = Buffer.from(token, 'base64');
  const utf8 = bytes.toString('utf8');
  const text = utf8.includes('\ufffd') ? bytes.toString('latin1') : utf8;
  const colon = text.indexOf(':');
  return colon === -1 ? NONE : ofPair(text.slice(0, colon), text.slice(colon + 1));
}

/** A user name with a password is usually a word like `monitor`; without one it is a token. */
function ofPair(username: string, password: string): SentCredentials {
  const secret = password === '' ? username : password;
  return secret === '' ? NONE : { parts: [secret], wholes: [`${username}:${password}`] };
}

function ofUrl(text: string): SentCredentials {
  if (!text.includes('@') || !URL.canParse(text)) return NONE;
  const { username, password } = new URL(text);
  const { parts, wholes } = ofPair(percentDecoded(username), percentDecoded(password));
  return parts.length === 0 ? NONE : { parts: [...urlCredentialsOf(text), ...parts], wholes };
}

/**
 * The secret in a URL, as written and percent-decoded: its password, or its user name without a
 * password. A user name beside a password is not secret: it is usually a word like `proxy`, and
 * masking it would mask that word everywhere.
 */
export function urlCredentialsOf(givenUrl: string): readonly string[] {
  const text = givenUrl.includes('://') ? givenUrl : `http://${givenUrl}`;
  if (!URL.canParse(text)) return [];
  const { username, password } = new URL(text);
  const secret = password === '' ? username : password;
  if (secret === '') return [];
  // The parser encodes some characters, so the text may differ.
  const userinfo = /:\/\/[^/?#]*@/.exec(text)?.[0].slice(3, -1) ?? '';
  const asWritten = password === '' ? userinfo.replace(/:$/, '') : userinfo.replace(/^[^:]*:/, '');
  return [...new Set([secret, asWritten, percentDecoded(secret)])].filter((one) => one !== '');
}
