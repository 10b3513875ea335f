import type { Socket } from 'node:net';
import { type Connected, connectTcp } from '../../src/agent/net/connect.ts';
import {
  type SecureOptions,
  type SecureOutcome,
  secureConnect,
} from '../../src/agent/net/tls/secure-connect.ts';
import type { ProbeContext } from '../../src/agent/probes/probe.ts';
import type { ClientCertificate } from '../../src/model/check/client-certificate.ts';
import { makeContext } from './agent/probe-context.ts';
import type { Authority, Identity } from './servers/certificates.ts';

/** Makes the agent trust a test's authority: a client certificate that includes it. */
export function trusting(authority: Authority, client: Identity): ClientCertificate {
  return { host: '*.test', ...client, ca: authority.cert, passphrase: null };
}

/** Connects to a port of loopback and does the TLS handshake, like a probe. */
export async function secureTo(
  port: number,
  options: Partial<SecureOptions> & {
    readonly host?: string;
    /** Runs between connecting and the handshake. */
    readonly beforeHandshake?: (socket: Socket) => Promise<void>;
  } = {},
  context: ProbeContext = makeContext(),
): Promise<SecureOutcome> {
  const { host = '127.0.0.1', beforeHandshake, ...rest } = options;
  const connected = await connectedTo(host, port, context);
  await beforeHandshake?.(connected.socket);
  return secureConnect(
    connected,
    {
      hostname: 'localhost',
      port,
      skipSSL: false,
      alpnProtocols: [],
      clientCertificate: null,
      ...rest,
    },
    context,
  );
}

async function connectedTo(host: string, port: number, context: ProbeContext): Promise<Connected> {
  const ipFamily = host.includes(':') ? 'IPv6' : 'IPv4';
  const connected = await connectTcp({ hostname: host, port, ipFamily }, context);
  if (!connected.ok) throw new Error(connected.failure.message);
  return connected;
}

export function secured(outcome: SecureOutcome): Extract<SecureOutcome, { ok: true }> {
  if (!outcome.ok) throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
  return outcome;
}

export function refused(outcome: SecureOutcome): Extract<SecureOutcome, { ok: false }> {
  if (!outcome.ok) return outcome;
  outcome.socket.destroy();
  throw new Error(`the handshake succeeded with ${outcome.facts.protocol}`);
}
