import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import type { TlsFacts } from '../../../model/result/details/check-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import type { ProbeContext } from '../../probes/probe.ts';
import type { Connected } from '../connect.ts';
import { targetText } from '../connect-failures.ts';
import type { Limits } from '../limited-wait.ts';
import { openSocket } from '../open-socket.ts';
import { leafCertificate, readTlsFacts } from './certificate-facts.ts';
import { certificateFailure } from './certificate-failures.ts';
import { tlsHandshake } from './handshake.ts';
import { handshakeFailure, isWorthTlsProbe } from './handshake-failures.ts';
import { probeTlsPermissively, type TlsProbe } from './permissive-probe.ts';
import { secureContextFor } from './secure-contexts.ts';

export interface SecureOptions {
  /** The name or address that the certificate must be for; a name is also sent as SNI. */
  readonly hostname: string;
  readonly port: number;
  /** Accepts any certificate; the log and the facts still report a wrong one. */
  readonly skipSSL: boolean;
  /** In order of preference; none offers no ALPN. */
  readonly alpnProtocols: readonly string[];
  readonly clientCertificate: ClientCertificate | null;
  /** Omitted for a direct connection on which TLS begins at once. */
  readonly through?: TunnelHop;
}

export interface TunnelHop {
  /** The peer's name in messages, since the address of the connection is not the peer's. */
  readonly target: string;
  /** Opens another connection on which the handshake can begin; null if that fails. */
  reopen(limits: Limits): Promise<Socket | null>;
}

export type SecureOutcome =
  | {
      readonly ok: true;
      readonly socket: TLSSocket;
      readonly facts: TlsFacts;
      readonly tlsMs: number;
    }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** The known facts of the server despite the failure; null if there are none. */
      readonly facts: TlsFacts | null;
      readonly tlsMs: number;
    };

/**
 * Makes a TLS handshake over the connection and checks the server's certificate before anything is
 * sent. Closes the connection on a failure. If a server has no safe TLS version or no safe cipher,
 * or rejects the client certificate, a second, permissive handshake on its own connection finds out
 * what it supports. `tlsMs` does not include that time, so a caller should sum its phases for a
 * total.
 */
export async function secureConnect(
  connected: Connected,
  options: SecureOptions,
  context: ProbeContext,
): Promise<SecureOutcome> {
  const { clock, scrub } = context;
  const secure = secureContextFor(options.clientCertificate);
  if (!secure.ok) {
    connected.socket.destroy();
    return { ok: false, failure: secure.failure, facts: null, tlsMs: 0 };
  }
  const hostname = withoutBrackets(options.hostname);
  const direct: TunnelHop = {
    target: targetText(hostname, options.port, connected.address),
    async reopen(limits) {
      const opened = await openSocket(connected.address, options.port, limits);
      return opened.ok ? opened.socket : null;
    },
  };
  const { target, reopen } = options.through ?? direct;
  const servername = serverNameOf(hostname);
  const startMs = clock.monotonicMs();
  const end = await tlsHandshake(
    connected.socket,
    {
      secureContext: secure.context,
      ...(servername === null ? {} : { servername }),
      ...(options.alpnProtocols.length === 0 ? {} : { ALPNProtocols: [...options.alpnProtocols] }),
    },
    context,
  );
  if (!end.ok) {
    const tlsMs = clock.monotonicMs() - startMs;
    const failure = handshakeFailure(target, end, tlsMs);
    if (!isWorthTlsProbe(end)) return { ok: false, failure, facts: null, tlsMs };
    const probe = await probeTlsPermissively(reopen, servername, context);
    if (probe === null) return { ok: false, failure, facts: null, tlsMs };
    return { ok: false, failure: informed(failure, target, probe), facts: probe.facts, tlsMs };
  }

  const { socket } = end;
  const shown = { wallMs: clock.wallMs(), scrub };
  const leaf = leafCertificate(socket);
  const certificateProblem = certificateFailure(socket, leaf, { target, hostname, ...shown });
  const facts = readTlsFacts(socket, leaf, certificateProblem === null, shown);
  const tlsMs = clock.monotonicMs() - startMs;
  context.log.info(`${facts.protocol} with ${facts.cipher} in ${millisecondsText(tlsMs)}`);
  if (certificateProblem === null) return { ok: true, socket, facts, tlsMs };
  if (options.skipSSL) {
    context.log.warn(`${certificateProblem.message}; skipSSL lets it pass`);
    return { ok: true, socket, facts, tlsMs };
  }
  socket.destroy();
  return { ok: false, failure: certificateProblem, facts, tlsMs };
}

/** RFC 6066 3: SNI has names only, and without the root's dot. */
function serverNameOf(hostname: string): string | null {
  return isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : null;
}

function informed(failure: Failure, target: string, probe: TlsProbe): Failure {
  if (failure.code === 'TLS_CLIENT_CERT_REJECTED') return failure;
  const { protocol, cipher } = probe.facts;
  if (probe.oldProtocol) {
    const message = `${target} speaks neither TLS 1.2 nor 1.3, only ${protocol} or older`;
    return { code: 'TLS_PROTOCOL_UNSUPPORTED', message };
  }
  if (probe.brokenOff) {
    const message = `${target} broke off the TLS handshake after it had shown its certificate: it requires a client certificate, or did not accept the one it got`;
    return { code: 'TLS_CLIENT_CERT_REJECTED', message };
  }
  const message = `${failure.message}; with weak parameters allowed it agrees on ${protocol} with ${cipher}`;
  return { code: failure.code, message };
}
