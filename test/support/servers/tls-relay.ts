import { connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificates.ts';
import { listening } from './tcp-servers.ts';

/** Adds TLS to a plain server of this machine. Ends with the test. */
export async function tlsRelay(
  identity: Identity,
  port: number,
): Promise<{ readonly port: number }> {
  const server = createServer({ ...identity, ALPNProtocols: ['http/1.1'] }, (inside: TLSSocket) => {
    const outside = connect(port, '127.0.0.1');
    inside.on('error', () => outside.destroy());
    outside.on('error', () => inside.destroy());
    inside.once('close', () => outside.destroy());
    inside.pipe(outside).pipe(inside);
  });
  server.on('tlsClientError', () => {});
  const relay = await listening(server);
  onTestFinished(() => relay.close());
  return relay;
}
