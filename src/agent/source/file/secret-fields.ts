import type { DocumentPath } from '../common/file-problem.ts';

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'password',
  'passphrase',
  'secretAccessKey',
  'sessionToken',
  'clientSecret',
  'value',
  'body',
  'data',
  // If the space after a colon is missing, text replaces these mappings or their fields.
  'request',
  'basicAuth',
  'auth',
  'headers',
  'queryParameters',
  'key',
]);

/** Everything below one of these is secret: a value may be in a wrong field by mistake. */
const SECRET_LISTS: readonly string[] = ['variables'];

/** Fields of the configuration of an alert channel. */
const PUBLIC_CONFIG: readonly string[] = [
  'config',
  'name',
  'address',
  'number',
  'method',
  'locked',
];

const USER_IN_URL = /:\/\/[^/]*@/;

/**
 * Whether a value may be a credential, so that no message may repeat it: passwords, headers and
 * query parameters, bodies and data to send, the PEM text of certificates and keys, all of a
 * variable, most of an alert channel, URLs with a query, and URLs with a user in any field.
 */
export function mayBeSecret(path: DocumentPath, value: unknown): boolean {
  const field = path.findLast((step) => typeof step === 'string') ?? '';
  if (path[0] === 'clientCertificates' && field !== 'host') return true;
  // The configuration of an alert channel: the path of a URL is a secret, too.
  if (path[0] === 'config') return !PUBLIC_CONFIG.includes(field);
  if (path.some((step) => SECRET_LISTS.some((list) => list === step))) return true;
  if (typeof value === 'string' && USER_IN_URL.test(value)) return true;
  if (field === 'url') return typeof value === 'string' && /[@?]/.test(value);
  return SECRET_KEYS.has(field);
}
