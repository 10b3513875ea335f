import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { CertificateFacts } from '../../../model/result/details/check-detail.ts';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { certificateFacts, type FactsOptions, type Leaf } from './certificate-facts.ts';

const CHAIN_CODES: Readonly<Record<string, ErrorCode>> = {
  CERT_HAS_EXPIRED: 'TLS_CERT_EXPIRED',
  CERT_NOT_YET_VALID: 'TLS_CERT_NOT_YET_VALID',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS_SELF_SIGNED',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS_SELF_SIGNED',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS_UNTRUSTED',
  UNABLE_TO_GET_ISSUER_CERT: 'TLS_UNTRUSTED',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS_UNTRUSTED',
  CERT_UNTRUSTED: 'TLS_UNTRUSTED',
};

const MAX_NAMED = 10;
/** The peer controls the chain, which may contain a loop. */
const MAX_CHAIN = 20;

export interface CertificateTarget extends FactsOptions {
  /** How messages name the target. */
  readonly target: string;
  /** The name or address that the certificate must be for, without brackets. */
  readonly hostname: string;
}

/** Why the peer's certificate is not valid for this host; null if it is. */
export function certificateFailure(
  socket: TLSSocket,
  leaf: Leaf | null,
  presentedFor: CertificateTarget,
): Failure | null {
  const { target, hostname, wallMs } = presentedFor;
  if (leaf === null) {
    return { code: 'TLS_CERT_INVALID', message: `${target} showed no certificate` };
  }
  const chainCode = chainErrorCode(socket);
  if (chainCode !== null) {
    const code = CHAIN_CODES[chainCode] ?? 'TLS_CERT_INVALID';
    const facts = certificateFacts(culprit(socket, leaf, code, wallMs), presentedFor);
    return {
      code,
      message: `${target} ${CHAIN_WORDS[code]?.(facts) ?? invalid(facts, chainCode)}`,
    };
  }
  const identityCode = identityErrorCode(hostname, leaf);
  if (identityCode === null) return null;
  const { subject, subjectAltNames } = certificateFacts(leaf, presentedFor);
  const names = subjectAltNames.slice(0, MAX_NAMED).join(', ');
  const more =
    subjectAltNames.length > MAX_NAMED ? ` and ${subjectAltNames.length - MAX_NAMED} more` : '';
  const of = subjectAltNames.length === 0 ? `no host but ${subject}` : `${names}${more}`;
  // RFC 9110 4.3.5: an address must stand in a field of its own.
  const asAddress =
    isIP(hostname) === 0 ? hostname : `the address ${hostname} (an IP entry among its names)`;
  return {
    code: 'TLS_HOSTNAME_MISMATCH',
    message: `${target} showed a certificate that is for ${of}, not for ${asAddress} (${identityCode})`,
  };
}

const CHAIN_WORDS: Partial<Record<ErrorCode, (facts: CertificateFacts) => string>> = {
  TLS_CERT_EXPIRED: ({ subject, validTo }) =>
    `showed a certificate (${subject}) that expired on ${validTo}`,
  TLS_CERT_NOT_YET_VALID: ({ subject, validFrom }) =>
    `showed a certificate (${subject}) that is not valid before ${validFrom}`,
  TLS_SELF_SIGNED: ({ subject, issuer }) =>
    subject === issuer
      ? `showed a self-signed certificate (${subject}), which is not trusted`
      : `showed a certificate (${subject}, issued by ${issuer}) whose chain ends in a self-signed one that is not trusted`,
  TLS_UNTRUSTED: ({ subject, issuer }) =>
    `showed a certificate (${subject}) whose chain leads to no trusted root: the certificate of its issuer ${issuer} or of one above is unknown; the server may have to send an intermediate`,
};

function invalid({ subject }: CertificateFacts, chainCode: string): string {
  return `showed a certificate (${subject}) that fails verification (${chainCode})`;
}

/** OpenSSL's code, null if the chain is valid. Node returns text, its types say Error. */
function chainErrorCode(socket: TLSSocket): string | null {
  if (socket.authorized) return null;
  const error: unknown = socket.authorizationError;
  return typeof error === 'string' ? error : (systemCodeOf(error) ?? 'UNSPECIFIED');
}

/**
 * Node's check by RFC 9525. It still uses the common name if there are no alternative names, and
 * throws on an alternative name that it cannot read.
 */
function identityErrorCode(hostname: string, leaf: Leaf): string | null {
  try {
    // Node's check reads only the subject and the alternative names.
    const error = checkServerIdentity(hostname, leaf as PeerCertificate);
    return error === undefined ? null : (systemCodeOf(error) ?? 'UNSPECIFIED');
  } catch (error) {
    return systemCodeOf(error) ?? 'UNSPECIFIED';
  }
}

/** The certificate of the chain that the code is about: a date may be that of an issuer. */
function culprit(socket: TLSSocket, leaf: Leaf, code: ErrorCode, wallMs: number): Leaf {
  const isOut = (one: Leaf): boolean =>
    code === 'TLS_CERT_EXPIRED'
      ? Date.parse(one.valid_to) < wallMs
      : code === 'TLS_CERT_NOT_YET_VALID' && Date.parse(one.valid_from) > wallMs;
  if (isOut(leaf)) return leaf;
  let one = socket.getPeerCertificate(true);
  for (let depth = 0; depth < MAX_CHAIN; depth += 1) {
    if (isOut(one)) return one;
    // The last one is its own issuer, or has none.
    if (one.issuerCertificate === undefined || one.issuerCertificate === one) break;
    one = one.issuerCertificate;
  }
  return leaf;
}
