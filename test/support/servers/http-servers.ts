import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The server's side of one connection, controlled byte by byte by the test. */
export interface Peer {
  /** Resolves with the next complete request: its head, and its body by Content-Length. */
  request(): Promise<string>;
  /** Resolves when the operating system has accepted the bytes. */
  send(...parts: readonly (string | Uint8Array)[]): Promise<void>;
  /** Closes the connection normally, after the sent data. */
  close(): void;
  /** Resets the connection (RST). */
  reset(): void;
  /** Resolves when the connection has ended, from either side. */
  readonly closed: Promise<void>;
  readonly socket: Socket;
}

export interface RawServer {
  readonly port: number;
  url(path?: string): string;
  /** All requests so far, in order. */
  readonly requests: readonly string[];
  /** Open connections. */
  readonly open: number;
  /** Resolves as soon as no connection is open. */
  idle(): Promise<void>;
}

/**
 * A server whose script decides every byte and runs once for each connection. Closed when the test
 * ends; a waiting script ends with its connection.
 */
export async function rawServer(
  script: (peer: Peer) => Promise<void> | void,
  host = '127.0.0.1',
): Promise<RawServer> {
  const requests: string[] = [];
  const peers = new Set<Peer>();
  const server = createServer({ noDelay: true }, (socket) => {
    const peer = peerOf(socket, requests);
    peers.add(peer);
    void peer.closed.then(() => peers.delete(peer));
    void Promise.resolve(script(peer)).catch((error: unknown) => {
      // Only errors caused by the other side's close are expected.
      if (!socket.destroyed) throw error;
    });
  });
  const port = await listen(server, host);
  onTestFinished(() => {
    for (const peer of peers) peer.socket.destroy();
    server.close();
  });
  return {
    port,
    url: (path = '/') => `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`,
    requests,
    get open() {
      return peers.size;
    },
    async idle() {
      while (peers.size > 0) await Promise.all([...peers].map(({ closed }) => closed));
    },
  };
}

/** Answers each request on a connection with the same bytes, then closes it normally. */
export function answering(
  ...parts: readonly (string | Uint8Array)[]
): (peer: Peer) => Promise<void> {
  return async (peer) => {
    await peer.request();
    await peer.send(...parts);
    peer.close();
  };
}

/** A response with the Content-Length of its body and optional header lines. */
export function response(
  status: string,
  body: string | Uint8Array = '',
  ...headers: readonly string[]
): Buffer {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]);
}

/** Starts the server on a free port of 127.0.0.1. Returns the port. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The address of a web server on a free port; closed with the test. */
export async function servedBy(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

function peerOf(socket: Socket, requests: string[]): Peer {
  let received = '';
  let wake = (): void => {};
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      wake();
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    wake();
  });
  return {
    socket,
    closed,
    async request() {
      for (;;) {
        const whole = wholeRequest(received);
        if (whole !== null) {
          received = received.slice(whole.length);
          requests.push(whole);
          return whole;
        }
        if (socket.destroyed) throw new Error('the connection ended before a whole request came');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async send(...parts) {
      for (const part of parts) {
        const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
        await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      }
    },
    close: () => {
      socket.end();
    },
    reset: () => {
      socket.resetAndDestroy();
    },
  };
}

function wholeRequest(text: string): string | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, headEnd))?.[1] ?? '0';
  const end = headEnd + 4 + Number(length);
  return text.length >= end ? text.slice(0, end) : null;
}
