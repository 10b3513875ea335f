import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './tcp-servers.ts';

/** A line of the test's own to a port, which can be cut. It ends with the test. */
export interface CuttingRelay {
  readonly url: string;
  /** What clients sent and the port was given, over all connections. */
  readonly passedBytes: number;
  /** Connections that were cut. */
  readonly cuts: number;
  /**
   * From now on: a connection is torn down, both ways, when so many bytes have gone to the port
   * since this call or the cut before. After the last one of the list the line holds.
   */
  cutAfter(bytes: readonly number[]): void;
}

export async function cuttingRelay(port: number): Promise<CuttingRelay> {
  let passedBytes = 0;
  let sinceBytes = 0;
  let left: number[] = [];
  let cuts = 0;

  /** Gives back what of the chunk goes through. */
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
        // What is on its way still arrives; then the line is dead to both.
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
