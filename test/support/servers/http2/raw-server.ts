import { createServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Identity } from '../certificates.ts';
import { listen } from '../http-servers.ts';
import { FRAME, frame, hasHeaders } from './frames.ts';

const PREFACE_BYTES = 24;

export interface RawHttp2Peer {
  send(...frames: readonly Uint8Array[]): Promise<void>;
  close(): void;
  /** The connection is closed. */
  readonly gone: boolean;
  readonly closed: Promise<void>;
}

/**
 * Speaks HTTP/2 frame by frame on one connection after the other: the script starts when the
 * client's request has arrived. Closed when the test ends. Returns the URL.
 */
export async function rawHttp2Server(
  identity: Identity,
  script: (peer: RawHttp2Peer) => Promise<void>,
): Promise<string> {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        sockets.delete(socket);
        resolve();
      });
    });
    const peer: RawHttp2Peer = {
      closed,
      get gone() {
        return socket.destroyed;
      },
      async send(...frames) {
        const bytes = Buffer.concat(frames);
        await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      },
      close: () => {
        socket.end();
      },
    };
    let received: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      if (!hasHeaders(received.subarray(PREFACE_BYTES))) return;
      socket.off('data', onData);
      socket.resume();
      void peer.send(frame(FRAME.settings, 0, Buffer.alloc(0), 0)).then(() => script(peer));
    };
    socket.on('data', onData);
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://localhost:${port}/`;
}
