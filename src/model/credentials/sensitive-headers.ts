/** Replaces a value that must not be shown (src/scrub/README.md, "What is masked, and where"). */
export const MASK = '********';

/** Whether a text has the mask in it, also percent-encoded, as clients that build URLs write it. */
export function holdsMask(text: string): boolean {
  return text.includes(MASK) || text.replaceAll(/%2a/gi, '*').includes(MASK);
}

/** Words that carry credentials wherever they occur in a name. */
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

/** Words that make a `key` a credential: X-API-Key, Access-Key, Subscription-Key and the like. */
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
 * Whether a header's value is masked always, secret or not: Authorization, Proxy-Authorization,
 * Cookie, Set-Cookie, X-API-Key and the like (src/scrub/README.md, "What is masked, and where").
 * Any case; judged word by word, so that X-Auth-Token is one and Sec-WebSocket-Key, Idempotency-Key
 * or RateLimit-Tokens are not.
 */
export function isSensitiveHeader(name: string): boolean {
  const cached = judged.get(name);
  if (cached !== undefined) return cached;
  const isSensitive = judgeName(name);
  if (judged.size < MAX_JUDGED && name.length <= MAX_JUDGED_CHARS) judged.set(name, isSensitive);
  return isSensitive;
}

/** Targets send few different names, and repeat them. */
const judged = new Map<string, boolean>();
const MAX_JUDGED = 1_000;
const MAX_JUDGED_CHARS = 64;

function judgeName(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  if (words.some((word) => SENSITIVE_WORDS.has(word) || SENSITIVE_ENDS.test(word))) return true;
  return words.includes('key') && words.some((word) => KEY_WORDS.has(word));
}

/**
 * The headers with every sensitive value masked; each of several values is masked by itself. The
 * same object where there is none.
 */
export function maskHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
): Readonly<Record<string, string | readonly string[]>> {
  const masked = (name: string, value: string | readonly string[]): string | readonly string[] => {
    if (!isSensitiveHeader(name)) return value;
    return typeof value === 'string' ? MASK : value.map(() => MASK);
  };
  const names = Object.keys(headers);
  if (!names.some(isSensitiveHeader)) return headers;
  // fromEntries defines own properties, so a header named __proto__ is one like any other.
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, masked(name, value)]),
  );
}
