import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificates.ts';

export interface StampingOptions {
  readonly protocol: 'http' | 'https' | 'h2';
  readonly identity: Identity;
  readonly tlsVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** When each part of the response is sent, milliseconds after the request came; null: by `sendNext`. */
  readonly partsAfterMs: readonly (number | null)[];
  /** Sends the head as soon as the request came; otherwise with the first part. */
  readonly headFirst?: boolean;
}

/** Monotonic milliseconds of this thread. */
export interface StampedSends {
  readonly requestCameMs: number;
  /** Before and after each part was handed to the kernel. */
  readonly parts: readonly { readonly beforeMs: number; readonly afterMs: number }[];
}

export interface StampingServer {
  readonly port: number;
  /** Sends the parts without a time, also while our event loop is blocked. */
  readonly sendNext: () => void;
  /** Blocks until it has sent its last part. */
  readonly untilSent: () => void;
  readonly sends: () => StampedSends;
}

/** A server in its own thread, which responds while our event loop is blocked and says when. */
export async function stampingServer(options: StampingOptions): Promise<StampingServer> {
  const { identity, ...rest } = options;
  const count = options.partsAfterMs.length;
  const times = new Float64Array(new SharedArrayBuffer(8 * (1 + 2 * count)));
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const { cert, key } = identity;
  const workerData = { ...rest, cert, key, times, sent };
  const thread = new Worker(IN_THREAD, { eval: true, workerData });
  onTestFinished(async () => void (await thread.terminate()));
  const [port] = (await once(thread, 'message')) as [number];
  // Both threads have the same monotonic clock, from different starts.
  const aheadMs = performance.now() - Number(process.hrtime.bigint()) / 1e6;
  const at = (index: number): number => (times[index] ?? Number.NaN) + aheadMs;
  return {
    port,
    sendNext: () => thread.postMessage('send'),
    untilSent() {
      if (Atomics.wait(sent, 0, 0, 10_000) === 'timed-out') throw new Error('nothing was sent');
    },
    sends: () => ({
      requestCameMs: at(0),
      parts: Array.from({ length: count }, (_, part) => ({
        beforeMs: at(1 + 2 * part),
        afterMs: at(2 + 2 * part),
      })),
    }),
  };
}

/** The same server in its own process, so that its descriptors are not of this one. */
export async function separateServer({
  identity: { cert, key },
  ...rest
}: StampingOptions): Promise<Pick<StampingServer, 'port'>> {
  const options = JSON.stringify({ ...rest, cert, key });
  const child = spawn(process.execPath, ['-e', IN_PROCESS, options], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const [port] = (await once(child, 'message')) as [number];
  return { port };
}

const SERVER = `
  const { protocol, tlsVersion, partsAfterMs, headFirst, cert, key, times, sent } = workerData;
  const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
  const PART = 'x'.repeat(100);
  const send = (part, write) => {
    times[1 + 2 * part] = nowMs();
    write(PART, part === partsAfterMs.length - 1);
    // HTTP/2 writes in an immediate of its own.
    setImmediate(() => setImmediate(() => {
      times[2 + 2 * part] = nowMs();
      if (part < partsAfterMs.length - 1) return;
      Atomics.store(sent, 0, 1);
      Atomics.notify(sent, 0);
    }));
  };
  const answer = (write) => {
    times[0] = nowMs();
    partsAfterMs.forEach((ms, part) => {
      if (ms === null) parentPort.once('message', () => send(part, write));
      else setTimeout(() => send(part, write), ms);
    });
  };
  const onSocket = (socket) => {
    socket.on('error', () => {});
    socket.setNoDelay(true);
    socket.once('data', () => {
      const length = PART.length * partsAfterMs.length;
      let head = 'HTTP/1.1 200 OK\\r\\ncontent-length: ' + length + '\\r\\n\\r\\n';
      answer((text) => {
        socket.write(head + text);
        head = '';
      });
      if (!headFirst) return;
      socket.write(head);
      head = '';
    });
  };
  const tls = { cert, key, minVersion: tlsVersion, maxVersion: tlsVersion };
  const server =
    protocol === 'http' ? require('node:net').createServer(onSocket)
    : protocol === 'https' ? require('node:tls').createServer(tls, onSocket)
    : require('node:http2').createSecureServer(tls);
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    answer((text, isLast) => {
      if (stream.destroyed) return;
      if (!stream.headersSent) stream.respond({ ':status': 200 });
      if (isLast) stream.end(text); else stream.write(text);
    });
    if (headFirst) stream.respond({ ':status': 200 });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const IN_THREAD = `const { parentPort, workerData } = require('node:worker_threads');${SERVER}`;
const IN_PROCESS = `
  const parentPort = { postMessage: (port) => process.send(port), once() {} };
  const workerData = {
    ...JSON.parse(process.argv[1]), times: [], sent: new Int32Array(new SharedArrayBuffer(4)),
  };${SERVER}`;
