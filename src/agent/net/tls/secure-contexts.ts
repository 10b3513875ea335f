import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type ClientCertificate, isEncryptedKey } from '../../../model/check/client-certificate.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';

export type ContextOutcome =
  | { readonly ok: true; readonly context: SecureContext }
  | { readonly ok: false; readonly failure: Failure };

/** Older versions are not safe (RFC 8996). */
const MIN_VERSION = 'TLSv1.2';

/** A context with its own trust store takes about a megabyte, and a few milliseconds to make. */
const MAX_CONTEXTS = 64;

/** Contexts by the digest of their content, the least recently used first. */
const contexts = new Map<string, ContextOutcome>();
const digests = new WeakMap<ClientCertificate, string>();
let plainContext: SecureContext | null = null;
let extraRoots: string | null = null;

/**
 * Sets the content of NODE_EXTRA_CA_CERTS (PEM), once at the start. Node trusts it by itself, but
 * Node 20 drops it if a client certificate has its own authority.
 */
export function trustExtraRoots(pem: string): void {
  extraRoots = pem;
  contexts.clear();
}

/**
 * The context with the trusted roots and the client certificate of a connection. Connections with
 * the same certificate share it: making a context takes longer than a handshake. The usual roots
 * (Node's own and NODE_EXTRA_CA_CERTS) are always trusted, in addition to a client certificate's
 * `ca`.
 *
 * A certificate, key or CA that cannot be used is CLIENT_CERT_INVALID.
 */
export function secureContextFor(certificate: ClientCertificate | null): ContextOutcome {
  if (certificate === null) {
    plainContext ??= createSecureContext({ minVersion: MIN_VERSION });
    return { ok: true, context: plainContext };
  }
  const digest = digestOf(certificate);
  const outcome = contexts.get(digest) ?? contextOf(certificate);
  contexts.delete(digest);
  contexts.set(digest, outcome);
  for (const oldest of contexts.keys()) {
    if (contexts.size <= MAX_CONTEXTS) break;
    contexts.delete(oldest);
  }
  return outcome;
}

function digestOf(certificate: ClientCertificate): string {
  const known = digests.get(certificate);
  if (known !== undefined) return known;
  const { host, cert, key, passphrase, ca } = certificate;
  const parts = JSON.stringify([host, cert, key, passphrase, ca]);
  const digest = createHash('sha256').update(parts).digest('base64');
  digests.set(certificate, digest);
  return digest;
}

function contextOf(certificate: ClientCertificate): ContextOutcome {
  const { host, cert, key, passphrase, ca } = certificate;
  const invalid = (what: string): ContextOutcome => {
    const message = `The client certificate for ${host} cannot be used: ${what}`;
    return { ok: false, failure: { code: 'CLIENT_CERT_INVALID', message } };
  };
  if (!isCertificate(cert)) return invalid('cert is not a certificate in PEM form');
  if (ca !== null && !isCertificate(ca)) return invalid('ca is not a certificate in PEM form');
  const secret = passphrase === null ? {} : { passphrase };
  let opened: KeyObject;
  try {
    opened = createPrivateKey({ key, ...secret });
  } catch (error) {
    return invalid(keyProblem(certificate, error));
  }
  try {
    // OpenSSL accepts a key of another type without an error, and then sends no certificate.
    if (!new X509Certificate(cert).checkPrivateKey(opened)) {
      return invalid('key does not belong to cert');
    }
    const context = createSecureContext({ minVersion: MIN_VERSION, cert, key, ...secret });
    if (ca !== null) trustAlso(context, ca);
    return { ok: true, context };
  } catch (error) {
    return invalid(
      `OpenSSL rejects this certificate and key (${systemCodeOf(error) ?? 'no code'})`,
    );
  }
}

/**
 * Trusts an authority in addition to the usual roots. createSecureContext's `ca` would replace
 * them, and listing them all there blocks the event loop for 18 ms for each context. This internal
 * call, which Node's own `ca` uses, adds to a copy of the roots in 0.4 ms.
 */
function trustAlso(context: SecureContext, ca: string): void {
  const native: { addCACert(pem: string): void } = context.context;
  native.addCACert(ca);
  if (extraRoots !== null) native.addCACert(extraRoots);
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return pem.includes('-----BEGIN ');
  } catch {
    return false;
  }
}

function keyProblem({ key, passphrase }: ClientCertificate, error: unknown): string {
  if (!isEncryptedKey(key)) {
    return `key is not a private key in PEM form (${systemCodeOf(error) ?? 'no code'})`;
  }
  if (passphrase === null) return 'key needs a passphrase';
  // About one wrong passphrase in 200 decrypts to some bytes: OpenSSL then reports that it cannot
  // read the key, not that it could not decrypt it.
  return 'the passphrase does not open key';
}
