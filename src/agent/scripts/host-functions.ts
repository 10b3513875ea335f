import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { MAX_RANDOM_BYTES } from './limits.ts';

/**
 * The functions of the host for scripts: pure functions of JSON values. Bytes are text of the
 * characters 0 to 255. Errors are thrown in the script, with their messages.
 */
export type HostFunction = (args: readonly unknown[]) => unknown;

const HASHES = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
const ENCODINGS = ['hex', 'base64', 'base64url', 'binary'] as const;
/** The parts of a URL; a script may also set them. */
const URL_PARTS = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('must be a text');
  return value;
}

/** `['text', characters]` or `['bytes', bytes]`. */
function bytesOf(value: unknown): Buffer {
  const [kind, content] = Array.isArray(value) ? value : [];
  return Buffer.from(text(content), kind === 'bytes' ? 'latin1' : 'utf8');
}

function hashName(value: unknown): string {
  const name = text(value).toLowerCase().replace('-', '');
  if (HASHES.includes(name)) return name;
  throw new TypeError(`the algorithm must be one of ${HASHES.join(', ')}`);
}

function encodingOf(value: unknown): (typeof ENCODINGS)[number] {
  const found = ENCODINGS.find((each) => each === value);
  if (found !== undefined) return found;
  throw new TypeError('the encoding must be one of hex, base64, base64url, bytes');
}

function urlParts(url: URL): Record<string, string> {
  const parts = URL_PARTS.map((name) => [name, url[name]] as const);
  return Object.fromEntries([...parts, ['origin', url.origin]]);
}

export const HOST_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  [
    'hash',
    ([name, data, encoding]) =>
      createHash(hashName(name)).update(bytesOf(data)).digest(encodingOf(encoding)),
  ],
  [
    'hmac',
    ([name, key, data, encoding]) =>
      createHmac(hashName(name), bytesOf(key)).update(bytesOf(data)).digest(encodingOf(encoding)),
  ],
  [
    'randomBytes',
    ([count]) => {
      if (Number.isInteger(count) && Number(count) >= 0 && Number(count) <= MAX_RANDOM_BYTES) {
        return randomBytes(Number(count)).toString('latin1');
      }
      throw new RangeError(`a script gets at most ${MAX_RANDOM_BYTES} random bytes at once`);
    },
  ],
  ['randomUUID', () => randomUUID()],
  ['toBase64', ([bytes]) => Buffer.from(text(bytes), 'latin1').toString('base64')],
  ['fromBase64', ([encoded]) => Buffer.from(text(encoded), 'base64').toString('latin1')],
  ['encode', ([characters]) => Buffer.from(text(characters), 'utf8').toString('latin1')],
  ['decode', ([bytes]) => Buffer.from(text(bytes), 'latin1').toString('utf8')],
  [
    'url',
    ([url, base]) => {
      const [given, from] = [text(url), base === null ? undefined : text(base)];
      if (!URL.canParse(given, from)) throw new TypeError('Invalid URL');
      return urlParts(new URL(given, from));
    },
  ],
  [
    'changeUrl',
    ([href, part, value]) => {
      const url = new URL(text(href));
      const name = URL_PARTS.find((each) => each === part);
      if (name !== undefined) url[name] = text(value);
      return urlParts(url);
    },
  ],
  ['readQuery', ([query]) => [...new URLSearchParams(text(query))]],
  [
    'writeQuery',
    ([pairs]) => {
      const params = new URLSearchParams();
      for (const pair of Array.isArray(pairs) ? pairs : []) {
        const [name, value] = Array.isArray(pair) ? pair : [];
        params.append(text(name), text(value));
      }
      return params.toString();
    },
  ],
]);
