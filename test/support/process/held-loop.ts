import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { loadKernelSockets } from '../../../src/agent/net/kernel/kernel-sockets.ts';
import type { StarvationWatch } from '../../../src/agent/net/starvation-watch.ts';
import {
  type AttemptStarvation,
  StarvationMeter,
} from '../../../src/agent/run/starvation/starvation-meter.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the event loop, like a process that gets no CPU. */
export function holdLoop(ms: number): void {
  Atomics.wait(NEVER_NOTIFIED, 0, 0, ms);
}

/**
 * Calls `begin` and then blocks the event loop before its next poll of sockets: answers to what
 * `begin` sent arrive long before they are seen. Resolves with the result of `begin`.
 */
export function beginAndHold<Value>(
  ms: number,
  begin: () => Promise<Value>,
  /** Blocks until the delayed answer has arrived. */
  untilCame: () => void = () => {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    // Both run in one phase of the loop: only promises and ticks run between them.
    setImmediate(() => void begin().then(resolve, reject));
    setImmediate(() => {
      untilCame();
      holdLoop(ms);
    });
  });
}

/** A name server in its own thread: it answers while our event loop is blocked, without records. */
export async function nameServerThread(): Promise<{
  readonly port: number;
  /** Blocks until it has answered one more question. */
  readonly untilAnswered: () => void;
}> {
  const answers = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(NAME_SERVER, { eval: true, workerData: { answers } });
  onTestFinished(async () => void (await thread.terminate()));
  const [port] = (await once(thread, 'message')) as [number];
  return {
    port,
    untilAnswered() {
      const before = Atomics.load(answers, 1);
      if (Atomics.wait(answers, 0, before, 10_000) === 'timed-out') throw new Error('no question');
      Atomics.store(answers, 1, Atomics.load(answers, 0));
    },
  };
}

const NAME_SERVER = `
  const { parentPort, workerData: { answers } } = require('node:worker_threads');
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (message, from) => {
    message.writeUInt16BE(0x8180, 2);
    socket.send(message, from.port, from.address, () => {
      Atomics.add(answers, 0, 1);
      Atomics.notify(answers, 0);
    });
  });
  socket.bind(0, '127.0.0.1', () => parentPort.postMessage(socket.address().port));
`;

/** A server in its own thread that sends `hello` this long after it accepted a connection. */
export async function greetingThread(afterMs: number): Promise<{
  readonly port: number;
  /** Blocks until it has sent it. */
  readonly untilGreeted: () => void;
}> {
  const greeted = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(GREETER, { eval: true, workerData: { greeted, afterMs } });
  onTestFinished(async () => void (await thread.terminate()));
  const [port] = (await once(thread, 'message')) as [number];
  return {
    port,
    untilGreeted() {
      if (Atomics.wait(greeted, 0, 0, 10_000) === 'timed-out') throw new Error('no connection');
    },
  };
}

const GREETER = `
  const { parentPort, workerData: { greeted, afterMs } } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    setTimeout(() => {
      socket.write('hello', () => {
        Atomics.store(greeted, 0, 1);
        Atomics.notify(greeted, 0);
      });
    }, afterMs);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/**
 * The starvation of an attempt that lasts as long as the test, with the kernel's own sockets.
 *
 * @param loopIdleMs as of StarvationSources: with it, a blocked event loop counts as a whole
 */
export async function realStarvation(
  loopIdleMs: (() => number) | null = null,
): Promise<AttemptStarvation & StarvationWatch> {
  const sockets = await loadKernelSockets();
  const meter = new StarvationMeter(systemClock, { threadDelay: null, sockets, loopIdleMs });
  onTestFinished(() => meter.close());
  return meter.begin();
}

/** A client in its own thread that sends a text after connecting, and returns the response. */
export function clientThread(
  port: number,
  sent: string,
): {
  /** Blocks until it has sent all. */
  readonly untilSent: () => void;
  /** Everything received until the end of the connection. */
  readonly got: Promise<string>;
} {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(CLIENT, { eval: true, workerData: { done, port, sent } });
  onTestFinished(async () => void (await thread.terminate()));
  return {
    untilSent() {
      if (Atomics.wait(done, 0, 0, 10_000) === 'timed-out') throw new Error('nothing was sent');
    },
    got: once(thread, 'message').then(([text]) => text as string),
  };
}

const CLIENT = `
  const { parentPort, workerData: { done, port, sent } } = require('node:worker_threads');
  let got = '';
  const socket = require('node:net').connect(port, '127.0.0.1', () => {
    socket.write(sent, () => {
      Atomics.store(done, 0, 1);
      Atomics.notify(done, 0);
    });
  });
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (text) => { got += text; });
  socket.on('close', () => parentPort.postMessage(got));
`;
