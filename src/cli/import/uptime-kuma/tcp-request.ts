import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { StartTlsProtocol } from '../../../model/check/request/tcp.ts';
import { isTrue, numberOf, textOf } from '../common/fields.ts';

/** The request of a TCP check, or why no check can do what the monitor does. */
export type AskedTcp =
  | { readonly request: Readonly<Record<string, unknown>> }
  | { readonly why: string };

/** The request of a monitor of the type port. */
export function portRequest(monitor: RawMapping): AskedTcp {
  const alert = textOf(monitor.expectedTlsAlert) ?? 'none';
  if (alert !== 'none' && alert !== '') {
    return { why: 'it expects an alert of TLS, and no check passes with one' };
  }
  // Uptime Kuma begins TLS only to read the certificate.
  const security = isTrue(monitor.expiryNotification) ? textOf(monitor.smtpSecurity) : null;
  const port = numberOf(monitor.port) ?? 0;
  const protocol = STARTTLS_PORTS.get(port);
  if (security === 'starttls' && protocol === undefined) {
    return { why: `the protocol that begins TLS with STARTTLS on port ${port} is not known` };
  }
  return requestOf(monitor, tlsOf(security, protocol));
}

/** Expects the greeting of SMTP, over TLS if the monitor uses it (RFC 5321, section 3.1). */
export function smtpRequest(monitor: RawMapping): AskedTcp {
  const security = textOf(monitor.smtpSecurity);
  const tls = tlsOf(security, 'SMTP');
  const steps = [{ expect: '^220[ -]' }];
  // The server does not send a greeting again after the upgrade.
  return requestOf(monitor, security === 'starttls' ? tls : { ...tls, steps });
}

const STARTTLS_PORTS: ReadonlyMap<number, StartTlsProtocol> = new Map([
  [21, 'FTP'],
  [25, 'SMTP'],
  [587, 'SMTP'],
  [110, 'POP3'],
  [143, 'IMAP'],
]);

function tlsOf(security: string | null, startTlsProtocol: StartTlsProtocol | undefined): object {
  if (security === 'secure') return { tls: 'ON' };
  return security === 'starttls' ? { tls: 'STARTTLS', startTlsProtocol } : {};
}

function requestOf(monitor: RawMapping, fields: object): AskedTcp {
  const hostname = (textOf(monitor.hostname) ?? '').trim();
  const port = numberOf(monitor.port) ?? 0;
  const skip = 'tls' in fields && isTrue(monitor.ignoreTls) ? { skipSSL: true } : {};
  return { request: { hostname, port, ...fields, ...skip } };
}
