import type { Socket } from 'node:net';
import { createServer, type SecureVersion, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Identity } from './certificates.ts';
import { type ListeningServer, listening, listenTcp } from './tcp-servers.ts';

export interface TlsServer extends ListeningServer {
  /** The names (SNI) of the clients, false for clients without SNI. */
  readonly serverNames: (string | false)[];
  /** Bytes that clients sent inside TLS. */
  readonly receivedBytes: number;
}

/** A correct TLS server on loopback; `onSecure` acts as the target. */
export async function listenTls(
  identity: Identity,
  options: TlsOptions = {},
  host = '127.0.0.1',
  onSecure: (socket: TLSSocket) => void = () => {},
): Promise<TlsServer> {
  const serverNames: (string | false)[] = [];
  let receivedBytes = 0;
  const server = createServer({ ...identity, ...options }, (socket) => {
    socket.on('error', () => {});
    serverNames.push((socket as TLSSocket & { servername: string | false }).servername);
    socket.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    onSecure(socket);
  });
  server.on('tlsClientError', () => {});
  const base = await listening(server, host);
  return {
    port: base.port,
    serverNames,
    get receivedBytes() {
      return receivedBytes;
    },
    get accepted() {
      return base.accepted;
    },
    get open() {
      return base.open;
    },
    allClosed: () => base.allClosed(),
    close: () => base.close(),
  };
}

/** Speaks only one old version of TLS. */
export function listenOldTls(
  identity: Identity,
  version: Extract<SecureVersion, 'TLSv1' | 'TLSv1.1'>,
  host = '127.0.0.1',
): Promise<TlsServer> {
  const options = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  return listenTls(identity, options, host);
}

/** Requires a client certificate of the authority. */
export function listenForClientCertificate(
  identity: Identity,
  authorityCert: string,
  maxVersion: Extract<SecureVersion, 'TLSv1.2' | 'TLSv1.3'> = 'TLSv1.3',
  onSecure: (socket: TLSSocket) => void = () => {},
): Promise<TlsServer> {
  const options = { requestCert: true, rejectUnauthorized: true, ca: authorityCert, maxVersion };
  return listenTls(identity, options, '127.0.0.1', onSecure);
}

/** Accepts the ClientHello and never answers. */
export function listenSilently(host = '127.0.0.1'): Promise<ListeningServer> {
  return listenTcp((socket) => socket.resume(), host);
}

/** Responses of a server without TLS to a ClientHello. */
export function listenForHello(
  onHello: (socket: Socket) => void,
  host = '127.0.0.1',
): Promise<ListeningServer> {
  return listenTcp((socket) => socket.once('data', () => onHello(socket)), host);
}

/** Resets the connection instead of sending a ServerHello. */
export function listenToReset(host = '127.0.0.1'): Promise<ListeningServer> {
  return listenForHello((socket) => socket.resetAndDestroy(), host);
}

/** Answers like a mail or web server without TLS. */
export function listenInPlainText(host = '127.0.0.1'): Promise<ListeningServer> {
  return listenForHello((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), host);
}

/** Answers the ClientHello with a fatal alert (RFC 8446 6), by its number. */
export function listenToAlert(alert: number, host = '127.0.0.1'): Promise<ListeningServer> {
  return listenForHello((socket) => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert])), host);
}
