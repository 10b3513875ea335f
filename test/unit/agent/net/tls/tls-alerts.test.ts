import { describe, expect, it } from 'vitest';
import { alertOf, failureOfTlsAlert } from '../../../../../src/agent/net/tls/tls-alerts.ts';

const withCode = (code: string, message = ''): Error => Object.assign(new Error(message), { code });

describe('alertOf', () => {
  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'TLS_CLIENT_CERT_REJECTED'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'TLS_CLIENT_CERT_REJECTED'],
    // The same alert as OpenSSL has called it over the years.
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'TLS_CLIENT_CERT_REJECTED'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'TLS_CLIENT_CERT_REJECTED'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS_PROTOCOL_UNSUPPORTED'],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'TLS_HANDSHAKE_FAILED'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'TLS_HANDSHAKE_FAILED'],
  ])('knows %s', (systemCode, code) => {
    expect(alertOf(withCode(systemCode))?.code).toBe(code);
  });

  it.each([
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_UNSUPPORTED_PROTOCOL',
    'ERR_SSL_TLSV1_ALERT_NEVER_HEARD_OF',
    'ECONNRESET',
  ])('does not know %s', (systemCode) => {
    expect(alertOf(withCode(systemCode))).toBeNull();
  });

  it('reads the alert from the error of a write', () => {
    const text = (packed: string): string =>
      `write EPROTO 80DC:error:${packed}:SSL routines::x:a.c:1:`;
    expect(alertOf(withCode('EPROTO', text('0A00045C')))?.code).toBe('TLS_CLIENT_CERT_REJECTED');
    expect(alertOf(withCode('EPROTO', text('0A000418')))?.code).toBe('TLS_CLIENT_CERT_REJECTED');
    // Not an alert: 'wrong version number'.
    expect(alertOf(withCode('EPROTO', text('0A00010B')))).toBeNull();
    expect(alertOf(withCode('EPROTO', 'write EPROTO'))).toBeNull();
  });

  it.each([[null], [undefined], ['text'], [{ code: 7 }]])('takes %j for none', (thrown) => {
    expect(alertOf(thrown)).toBeNull();
  });
});

describe('failureOfTlsAlert', () => {
  it('reports a late handshake failure as a rejected client certificate', () => {
    const failure = failureOfTlsAlert(withCode('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'));
    expect(failure?.code).toBe('TLS_CLIENT_CERT_REJECTED');
    expect(failure?.message).toBe(
      'The server requires a client certificate, or did not accept the one it got',
    );
  });

  it.each([
    'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
    'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
    'ECONNRESET',
  ])('leaves %s to others', (systemCode) => {
    expect(failureOfTlsAlert(withCode(systemCode))).toBeNull();
  });
});
