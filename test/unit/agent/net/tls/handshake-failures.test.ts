import { describe, expect, it } from 'vitest';
import type { NoHandshake } from '../../../../../src/agent/net/tls/handshake.ts';
import {
  handshakeFailure,
  isWorthTlsProbe,
} from '../../../../../src/agent/net/tls/handshake-failures.ts';

const error = (code: string): NoHandshake => ({ ok: false, ended: 'error', error: { code } });

describe('handshakeFailure', () => {
  it.each([
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'TLS_PROTOCOL_UNSUPPORTED', true],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS_PROTOCOL_UNSUPPORTED', true],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'TLS_HANDSHAKE_FAILED', true],
    ['ERR_SSL_DH_KEY_TOO_SMALL', 'TLS_HANDSHAKE_FAILED', true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS_HANDSHAKE_FAILED', false],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'TLS_HANDSHAKE_FAILED', false],
    ['ERR_SSL_NEVER_HEARD_OF', 'TLS_HANDSHAKE_FAILED', false],
    ['EHOSTUNREACH', 'TLS_RESET', false],
    ['ECONNRESET', 'TLS_RESET', false],
    ['EPIPE', 'TLS_RESET', false],
    ['ETIMEDOUT', 'TLS_TIMEOUT', false],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'TLS_CLIENT_CERT_REJECTED', true],
  ])('reports %s as %s', (systemCode, code, look) => {
    const failure = handshakeFailure('a.test:443', error(systemCode), 5);
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^a\.test:443 /);
    expect(failure.message).toContain(systemCode);
    expect(isWorthTlsProbe(error(systemCode))).toBe(look);
  });

  it('distinguishes a timeout from a cancellation', () => {
    const timeUp: NoHandshake = { ok: false, ended: 'time-up' };
    expect(handshakeFailure('a.test:443', timeUp, 1500)).toEqual({
      code: 'TLS_TIMEOUT',
      message: 'a.test:443 did not finish the TLS handshake within 1500 ms',
    });
    const cancelled: NoHandshake = { ok: false, ended: 'cancelled' };
    expect(handshakeFailure('a.test:443', cancelled, 1).code).toBe('CANCELLED');
    expect(isWorthTlsProbe(timeUp) || isWorthTlsProbe(cancelled)).toBe(false);
  });
});
