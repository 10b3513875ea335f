import type { DocumentPath } from './file-problem.ts';

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'password',
  'passphrase',
  'value',
  'body',
  'data',
]);

/**
 * Whether a value may be a credential, so that no message may repeat it: passwords, the values of
 * headers and query parameters, bodies and data to send, the PEM text of certificates and keys, and
 * URLs with a user or a query.
 */
export function mayHoldSecret(path: DocumentPath, value: unknown): boolean {
  const field = path.findLast((step) => typeof step === 'string') ?? '';
  if (path[0] === 'clientCertificates' && field !== 'host') return true;
  if (field === 'url') return typeof value === 'string' && /[@?]/.test(value);
  return SECRET_KEYS.has(field);
}
