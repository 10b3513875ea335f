import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  type ClientCertificateBody,
  isEncryptedKey,
} from '../../model/check/client-certificate.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';

const ONE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const MAX_CERTIFICATES = 20;

/**
 * Finds problems that an agent would otherwise find only in the handshake: an invalid certificate, a key that
 * cannot be decrypted, or a key that does not belong to the certificate.
 */
export function certificateProblems(body: ClientCertificateBody): readonly RequestProblem[] {
  const { cert, key, passphrase, ca } = body;
  const problems: RequestProblem[] = [];
  const own = certificatesIn(cert);
  if (own === null) problems.push(bodyProblem(['cert'], NO_CERTIFICATE));
  if (ca !== null && certificatesIn(ca) === null)
    problems.push(bodyProblem(['ca'], NO_CERTIFICATE));
  // These two are stored unencrypted and shown in responses.
  for (const [field, pem] of Object.entries({ cert, ca: ca ?? '' })) {
    if (PRIVATE_KEY.test(pem))
      problems.push(bodyProblem([field], 'must not contain a private key'));
  }
  const opened = openKey(key, passphrase);
  if (!opened.ok) problems.push(bodyProblem([opened.field], opened.message));
  else if (own?.[0]?.checkPrivateKey(opened.key) === false) {
    problems.push(bodyProblem(['key'], 'must be the private key of the first certificate in cert'));
  }
  return problems;
}

const NO_CERTIFICATE = `must be 1 to ${MAX_CERTIFICATES} certificates in PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----`;

/** null if there is none, too many, or an invalid one. */
function certificatesIn(pem: string): readonly X509Certificate[] | null {
  const texts = pem.match(ONE_CERTIFICATE) ?? [];
  if (texts.length === 0 || texts.length > MAX_CERTIFICATES) return null;
  try {
    return texts.map((text) => new X509Certificate(text));
  } catch {
    return null;
  }
}

type OpenedKey =
  | { readonly ok: true; readonly key: KeyObject }
  | { readonly ok: false; readonly field: 'key' | 'passphrase'; readonly message: string };

function openKey(key: string, passphrase: string | null): OpenedKey {
  try {
    return {
      ok: true,
      key: createPrivateKey({ key, ...(passphrase === null ? {} : { passphrase }) }),
    };
  } catch {
    if (!isEncryptedKey(key))
      return { ok: false, field: 'key', message: 'must be a private key in PEM' };
    return passphrase === null
      ? { ok: false, field: 'passphrase', message: 'is missing: the private key is encrypted' }
      : { ok: false, field: 'passphrase', message: 'does not decrypt the private key' };
  }
}
