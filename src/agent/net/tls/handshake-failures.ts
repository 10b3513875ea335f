import type { Failure } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import type { NoHandshake } from './handshake.ts';
import { type AlertMeaning, alertOf } from './tls-alerts.ts';

const OLD_PROTOCOL: AlertMeaning = {
  code: 'TLS_PROTOCOL_UNSUPPORTED',
  what: 'speaks neither TLS 1.2 nor 1.3',
  negotiation: true,
};
const NO_TLS: AlertMeaning = {
  code: 'TLS_HANDSHAKE_FAILED',
  what: 'does not speak TLS on this port: its answer is plain text or another protocol',
};
const CLOSED: AlertMeaning = {
  code: 'TLS_RESET',
  what: 'closed or reset the connection during the TLS handshake',
};
const LOST: AlertMeaning = {
  code: 'TLS_RESET',
  what: 'could no longer be reached during the TLS handshake',
};
const WEAK_KEY: AlertMeaning = {
  code: 'TLS_HANDSHAKE_FAILED',
  what: 'offers a key that is too short to be safe',
  negotiation: true,
};

/** Errors of our own side of the handshake, by code. The peer's alerts are in tls-alerts.ts. */
const ROWS: Readonly<Record<string, AlertMeaning>> = {
  ERR_SSL_UNSUPPORTED_PROTOCOL: OLD_PROTOCOL,
  ERR_SSL_WRONG_SSL_VERSION: OLD_PROTOCOL,
  ERR_SSL_VERSION_TOO_LOW: OLD_PROTOCOL,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_UNKNOWN_PROTOCOL: NO_TLS,
  ERR_SSL_HTTP_REQUEST: NO_TLS,
  ERR_SSL_DH_KEY_TOO_SMALL: WEAK_KEY,
  ERR_TLS_DH_PARAM_SIZE: WEAK_KEY,
  ERR_SSL_UNEXPECTED_EOF_WHILE_READING: CLOSED,
  HANDSHAKE_FLOOD: {
    code: 'TLS_HANDSHAKE_FAILED',
    what: 'sent more than 1 MiB in the TLS handshake without finishing it',
  },
  ECONNRESET: CLOSED,
  ECONNABORTED: CLOSED,
  EPIPE: CLOSED,
  EHOSTUNREACH: LOST,
  ENETUNREACH: LOST,
  ENETDOWN: LOST,
  ETIMEDOUT: { code: 'TLS_TIMEOUT', what: 'stopped acknowledging during the TLS handshake' },
};

const OTHER: AlertMeaning = {
  code: 'TLS_HANDSHAKE_FAILED',
  what: 'broke the rules of the TLS handshake, or of what is safe in it',
};

/** Why a handshake failed. `target` is the target's name in messages. */
export function handshakeFailure(target: string, end: NoHandshake, tookMs: number): Failure {
  switch (end.ended) {
    case 'cancelled': {
      const message = `The TLS handshake with ${target} was cancelled because the agent stops`;
      return { code: 'CANCELLED', message };
    }
    case 'time-up': {
      const message = `${target} did not finish the TLS handshake within ${millisecondsText(tookMs)}`;
      return { code: 'TLS_TIMEOUT', message };
    }
    case 'error': {
      const systemCode = systemCodeOf(end.error) ?? 'no code';
      const { code, what } = meaningOf(end.error);
      return { code, message: `${target} ${what} (${systemCode})` };
    }
  }
}

/**
 * Whether one more handshake, without a client certificate and with old versions and weak ciphers
 * allowed, may show what this one did not: what the server speaks, or its certificate.
 */
export function isWorthTlsProbe(end: NoHandshake): boolean {
  if (end.ended !== 'error') return false;
  const { code, negotiation } = meaningOf(end.error);
  return negotiation === true || code === 'TLS_CLIENT_CERT_REJECTED';
}

function meaningOf(error: unknown): AlertMeaning {
  return alertOf(error) ?? ROWS[systemCodeOf(error) ?? ''] ?? OTHER;
}
