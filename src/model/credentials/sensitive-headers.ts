import { MASK } from './mask.ts';

/** A name with one of these words is sensitive. */
const SENSITIVE_WORDS: ReadonlySet<string> = new Set([
  'authorization',
  'auth',
  'authentication',
  'bearer',
  'cookie',
  'cookie2',
  'credential',
  'credentials',
  'jwt',
  'passwd',
  'session',
  'sessionid',
]);

/** For names written as one word: AccessToken, ClientSecret, XApiKey. */
const SENSITIVE_ENDS = /(token|secret|password|(access|api|auth)key)$/;

/**
 * Together with one of these words, `key` is sensitive: X-API-Key, Access-Key, Subscription-Key.
 */
const KEY_WORDS: ReadonlySet<string> = new Set([
  'access',
  'account',
  'api',
  'app',
  'application',
  'auth',
  'client',
  'functions',
  'license',
  'master',
  'private',
  'service',
  'shared',
  'signing',
  'subscription',
]);

/**
 * Whether a header's value is always masked: Authorization, Proxy-Authorization, Cookie,
 * Set-Cookie, X-API-Key and similar ones (src/scrub/README.md, "What is masked, and where").
 * Case-insensitive, word by word: X-Auth-Token is sensitive; Sec-WebSocket-Key, Idempotency-Key and
 * RateLimit-Tokens are not.
 */
export function isSensitiveHeader(name: string): boolean {
  const cached = knownNames.get(name);
  if (cached !== undefined) return cached;
  const isSensitive = isSensitiveName(name);
  if (knownNames.size < MAX_KNOWN && name.length <= MAX_KNOWN_CHARS)
    knownNames.set(name, isSensitive);
  return isSensitive;
}

/** A cache: targets repeat a few names. */
const knownNames = new Map<string, boolean>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_CHARS = 64;

function isSensitiveName(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  if (words.some((word) => SENSITIVE_WORDS.has(word) || SENSITIVE_ENDS.test(word))) return true;
  return words.includes('key') && words.some((word) => KEY_WORDS.has(word));
}

/**
 * The headers with all sensitive values masked, each of several values separately. The same object
 * if there is nothing to mask.
 */
export function maskHeaders<Headers extends Readonly<Record<string, string | readonly string[]>>>(
  headers: Headers,
): Headers {
  const entries = Object.entries(headers);
  if (entries.every(([name, value]) => isMasked(value) || !isSensitiveHeader(name))) return headers;
  // fromEntries defines own properties, so a header may be named __proto__.
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!isSensitiveHeader(name)) return [name, value];
      return [name, typeof value === 'string' ? MASK : value.map(() => MASK)];
    }),
  ) as Headers;
}

function isMasked(value: string | readonly string[]): boolean {
  return typeof value === 'string' ? value === MASK : value.every((one) => one === MASK);
}
