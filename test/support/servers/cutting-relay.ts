import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './tcp-servers.ts';

/** A relay to a port, which can be cut. Ends with the test. */
export interface CuttingRelay {
  readonly url: string;
  /** Bytes from clients to the port, over all connections. */
  readonly passedBytes: number;
  /** Cut connections. */
  readonly cuts: number;
  /**
   * From now on, cuts a connection in both directions after each of these numbers of bytes to the
   * port, counted since this call or the previous cut. The relay is stable after the last one.
   */
  cutAfter(bytes: readonly number[]): void;
}

export async function cuttingRelay(port: number): Promise<CuttingRelay> {
  let passedBytes = 0;
  let sinceBytes = 0;
  let left: number[] = [];
  let cuts = 0;

  /** Returns the part of the chunk that passes. */
  function pass(chunk: Buffer): Buffer {
    const [next] = left;
    const part = next === undefined ? chunk : chunk.subarray(0, next - sinceBytes);
    passedBytes += part.length;
    sinceBytes += part.length;
    return part;
  }

  const server = await listening(
    createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      upstream.on('error', () => {});
      upstream.pipe(client);
      upstream.once('close', () => client.destroy());
      client.once('close', () => upstream.destroy());
      void forward(client, upstream);
    }),
  );
  onTestFinished(() => server.close());

  async function forward(client: Socket, upstream: Socket): Promise<void> {
    try {
      for await (const chunk of client) {
        const part = pass(chunk);
        if (!upstream.write(part)) await once(upstream, 'drain');
        if (sinceBytes !== left[0]) continue;
        left.shift();
        sinceBytes = 0;
        cuts += 1;
        // Delivers the bytes in flight; then the connection is dead on both sides.
        upstream.end();
        client.resetAndDestroy();
        return;
      }
      upstream.end();
    } catch {
      upstream.destroy();
    }
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    get passedBytes() {
      return passedBytes;
    },
    get cuts() {
      return cuts;
    },
    cutAfter(bytes) {
      left = [...bytes];
      sinceBytes = 0;
    },
  };
}
