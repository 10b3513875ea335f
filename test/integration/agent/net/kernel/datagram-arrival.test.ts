import dgram from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { DatagramArrival } from '../../../../../src/agent/net/kernel/datagram-arrival.ts';
import { loadKernelSockets } from '../../../../../src/agent/net/kernel/kernel-sockets.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { holdLoop } from '../../../../support/process/held-loop.ts';

const HELD_MS = 30;
// Only Linux has kernel times; elsewhere the event loop measures.
const onLinux = it.runIf(process.platform === 'linux');

async function bound(type: 'udp4' | 'udp6', address: string): Promise<dgram.Socket> {
  const socket = dgram.createSocket(type);
  onTestFinished(() => void socket.close());
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket;
}

async function kernelSockets() {
  const sockets = await loadKernelSockets();
  onTestFinished(() => sockets?.close());
  return sockets;
}

/** Hands the datagram to the kernel before it resolves, and reads no socket meanwhile. */
function send(from: dgram.Socket, to: dgram.Socket, text: string): Promise<void> {
  const { port, address } = to.address();
  return new Promise((resolve) => {
    from.send(text, port, address, () => resolve());
  });
}

onLinux.each([
  ['udp4', '127.0.0.1'],
  ['udp6', '::1'],
] as const)(
  'tells when each datagram arrived that waits for us, over %s',
  async (type, address) => {
    const sender = await bound(type, address);
    const receiver = await bound(type, address);
    const arrival = DatagramArrival.watch(await kernelSockets(), receiver, systemClock);
    const read: { readonly arrivedMs: number | null; readonly readMs: number }[] = [];
    const both = new Promise<void>((resolve) => {
      receiver.on('message', (message) => {
        const arrivedMs = arrival?.atMs() ?? null;
        // The first one only makes the kernel start its stamps.
        if (message.toString() !== 'begin') {
          read.push({ arrivedMs, readMs: systemClock.monotonicMs() });
        }
        if (read.length === 2) resolve();
      });
    });
    while (arrival?.atMs() == null) {
      const came = once(receiver, 'message');
      await send(sender, receiver, 'begin');
      await came;
    }
    // Sending takes promises and ticks only, so both wait until the last hold is over.
    setImmediate(async () => {
      await send(sender, receiver, 'one');
      holdLoop(HELD_MS);
      await send(sender, receiver, 'two');
      holdLoop(HELD_MS);
    });
    await both;
    const [one, two] = read;
    expect((one?.readMs ?? 0) - (one?.arrivedMs ?? 0)).toBeGreaterThanOrEqual(2 * HELD_MS);
    expect((two?.readMs ?? 0) - (two?.arrivedMs ?? 0)).toBeGreaterThanOrEqual(HELD_MS);
    expect((two?.arrivedMs ?? 0) - (one?.arrivedMs ?? 0)).toBeGreaterThanOrEqual(HELD_MS);
  },
);

onLinux('tells nothing where the wall clock was set since', async () => {
  const clock = new FakeClock();
  const receiver = await bound('udp4', '127.0.0.1');
  const arrival = DatagramArrival.watch(await kernelSockets(), receiver, clock);
  while (arrival?.atMs() == null) {
    const came = once(receiver, 'message');
    await send(await bound('udp4', '127.0.0.1'), receiver, 'begin');
    await came;
  }
  clock.stepWall(50);
  expect(arrival.atMs()).toBeNull();
});

onLinux('tells nothing before anything was read', async () => {
  const receiver = await bound('udp4', '127.0.0.1');
  expect(DatagramArrival.watch(await kernelSockets(), receiver, systemClock)?.atMs()).toBeNull();
});

it('an arrival is unknown if the kernel state is not available', async () => {
  const receiver = await bound('udp4', '127.0.0.1');
  expect(DatagramArrival.watch(null, receiver, systemClock)).toBeNull();
});
