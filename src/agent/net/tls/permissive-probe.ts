import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsFacts } from '../../../model/result/details/check-detail.ts';
import type { ProbeContext } from '../../probes/probe.ts';
import type { Limits } from '../limited-wait.ts';
import { leafCertificate, readTlsFacts } from './certificate-facts.ts';
import { tlsHandshake } from './handshake.ts';

/** The second handshake only adds details: it must not take the attempt's whole time. */
const MAX_PROBE_MS = 2000;

/** Versions below TLS 1.2; OpenSSL no longer supports SSL 3. */
const OLD_PROTOCOLS: ReadonlySet<string> = new Set(['TLSv1', 'TLSv1.1']);

let permissiveContext: SecureContext | null = null;

export interface TlsProbe {
  readonly facts: TlsFacts;
  /** The server chose a version below TLS 1.2 when it could have had 1.2. */
  readonly oldProtocol: boolean;
  /** The server broke off after it had shown its certificate: it objects to the client's. */
  readonly brokenOff: boolean;
}

/**
 * Makes a second handshake on its own connection to the same address, with old versions and weak
 * ciphers allowed and without a client certificate, to find out what a server supports after a
 * failed handshake. Sends nothing, trusts nothing, and closes. null if it found out nothing.
 *
 * @param reopen makes that connection
 */
export async function probeTlsPermissively(
  reopen: (limits: Limits) => Promise<Socket | null>,
  servername: string | null,
  context: ProbeContext,
): Promise<TlsProbe | null> {
  const { clock, signal, scrub } = context;
  const deadlineMs = Math.min(context.deadlineMs, clock.monotonicMs() + MAX_PROBE_MS);
  const limits = { clock, signal, deadlineMs };
  const connection = await reopen(limits);
  if (connection === null) return null;

  permissiveContext ??= createSecureContext({
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.2',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const secureContext = permissiveContext;
  const names = servername === null ? {} : { servername };
  let facts: TlsFacts | null = null;
  const end = await tlsHandshake(connection, { secureContext, ...names }, limits, (socket) => {
    // Up to TLS 1.2, the keys are made when the server has sent its whole first flight: its
    // certificate is known here even if the handshake then fails. The keys are not used.
    socket.once('keylog', () => {
      facts = readTlsFacts(socket, leafCertificate(socket), false, {
        wallMs: clock.wallMs(),
        scrub,
      });
    });
  });
  if (end.ok) end.socket.destroy();
  const seen = facts as TlsFacts | null;
  if (seen === null) return null;
  const oldProtocol = seen.protocol !== null && OLD_PROTOCOLS.has(seen.protocol);
  return { facts: seen, oldProtocol, brokenOff: !end.ok && end.ended === 'error' };
}
