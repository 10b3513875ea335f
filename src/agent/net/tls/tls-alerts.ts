import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';

/** The meaning of the peer's alert. `what` ends a sentence that starts with the peer's name. */
export interface AlertMeaning {
  readonly code: ErrorCode;
  readonly what: string;
  /** The cause may be the offered versions or ciphers. */
  readonly negotiation?: true;
}

interface Alert extends AlertMeaning {
  /** As in RFC 8446 6 and RFC 6066 9; OpenSSL's name is the same in upper case. */
  readonly number: number;
  readonly name: string;
}

const rejected = (number: number, name: string, why: string): Alert => ({
  number,
  name,
  code: 'TLS_CLIENT_CERT_REJECTED',
  what: why,
});
const failed = (number: number, name: string, why: string): Alert => ({
  number,
  name,
  code: 'TLS_HANDSHAKE_FAILED',
  what: `broke off the TLS handshake: ${why}`,
});

const ALERTS: readonly Alert[] = [
  {
    ...failed(40, 'HANDSHAKE_FAILURE', 'it shares no cipher or parameter with the agent'),
    negotiation: true,
  },
  rejected(42, 'BAD_CERTIFICATE', 'requires a client certificate, or cannot read the one it got'),
  rejected(43, 'UNSUPPORTED_CERTIFICATE', 'does not support the kind of client certificate it got'),
  rejected(44, 'CERTIFICATE_REVOKED', 'says that the client certificate is revoked'),
  rejected(45, 'CERTIFICATE_EXPIRED', 'says that the client certificate has expired'),
  rejected(46, 'CERTIFICATE_UNKNOWN', 'did not accept the client certificate'),
  rejected(48, 'UNKNOWN_CA', 'does not trust the issuer of the client certificate'),
  rejected(49, 'ACCESS_DENIED', 'gives the client certificate no access'),
  {
    number: 70,
    name: 'PROTOCOL_VERSION',
    code: 'TLS_PROTOCOL_UNSUPPORTED',
    what: 'speaks neither TLS 1.2 nor 1.3',
    negotiation: true,
  },
  failed(71, 'INSUFFICIENT_SECURITY', 'it requires stronger ciphers than the agent has'),
  failed(80, 'INTERNAL_ERROR', 'it says that it has an internal error'),
  failed(112, 'UNRECOGNIZED_NAME', 'it serves no host of that name (SNI)'),
  rejected(116, 'CERTIFICATE_REQUIRED', 'requires a client certificate and got none'),
  failed(120, 'NO_APPLICATION_PROTOCOL', 'it speaks none of the protocols offered (ALPN)'),
];

const BY_NAME = new Map(ALERTS.map((alert) => [alert.name, alert]));
const BY_NUMBER = new Map(ALERTS.map((alert) => [alert.number, alert]));

/** Reasons of OpenSSL above this are alerts of the peer: this offset plus the alert's number. */
const ALERT_REASON_OFFSET = 1000;

/** The alert with which the peer ended a TLS connection; null if it ended otherwise. */
export function alertOf(error: unknown): AlertMeaning | null {
  const code = typeof error === 'string' ? error : systemCodeOf(error);
  // OpenSSL has renamed them in the past: SSLV3_ALERT_X, TLSV1_ALERT_X, SSL/TLS_ALERT_X, TLSV1_X.
  const name = code?.match(/^ERR_SSL_(?:.+_ALERT|TLSV1|TLSV13)_(.+)$/)?.[1];
  if (name !== undefined) return BY_NAME.get(name) ?? null;
  if (code !== 'EPROTO') return null;
  return BY_NUMBER.get((opensslReasonOf(error) ?? 0) - ALERT_REASON_OFFSET) ?? null;
}

/**
 * Node reports an error in a write as EPROTO. OpenSSL's own error code is then only in the text, as
 * 8 hexadecimal digits; the lower 23 bits are the reason.
 */
function opensslReasonOf(error: unknown): number | null {
  const packed = error instanceof Error ? error.message.match(/error:([0-9A-F]{8}):/)?.[1] : null;
  return packed === undefined || packed === null ? null : Number.parseInt(packed, 16) & 0x7fffff;
}

/**
 * The failure behind an error of a TLS socket after the handshake; null if the error is not about
 * the handshake. In TLS 1.3 the client finishes before the server has checked its certificate (RFC
 * 8446 4.4.2.4, 6.2), so a rejection arrives as an alert instead of a response.
 *
 * @param error the socket's error, or its code
 */
export function failureOfTlsAlert(error: unknown): (Failure & { readonly what: string }) | null {
  const alert = alertOf(error);
  if (alert === null) return null;
  const late = alert === BY_NAME.get('HANDSHAKE_FAILURE') ? LATE_REFUSAL : alert;
  if (late.code !== 'TLS_CLIENT_CERT_REJECTED') return null;
  return { code: late.code, what: late.what, message: `The server ${late.what}` };
}

/** The only possible reason of a server after its own part of the handshake. */
const LATE_REFUSAL: AlertMeaning = {
  code: 'TLS_CLIENT_CERT_REJECTED',
  what: 'requires a client certificate, or did not accept the one it got',
};
