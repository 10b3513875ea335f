import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { KernelSockets } from '../../../../../src/agent/net/kernel/kernel-sockets.ts';
import { type ExchangeResult, runExchange } from '../../../../../src/agent/probes/http/exchange.ts';
import type { AttemptStarvation } from '../../../../../src/agent/run/starvation/starvation-meter.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { eventually } from '../../../../support/eventually.ts';
import { holdLoop, realStarvation } from '../../../../support/process/held-loop.ts';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import {
  type StampedSends,
  type StampingOptions,
  type StampingServer,
  separateServer,
  stampingServer,
} from '../../../../support/servers/stamping-server.ts';

/** From the last part that was sent until the event loop goes on. */
const HELD_MS = 100;
/** The event loop is not late by so much that this alone would count as starvation. */
const SLOW_READING_MS = 1;
/** At the lowest rate of a Linux kernel's clock, 100 a second. */
const MAX_TICK_MS = 10;
const PROTOCOLS = [
  ['plain HTTP', { protocol: 'http' }],
  ['TLS 1.2', { protocol: 'https', tlsVersion: 'TLSv1.2' }],
  ['TLS 1.3, whose tickets come first', { protocol: 'https', tlsVersion: 'TLSv1.3' }],
  ['HTTP/2, whose settings come first', { protocol: 'h2' }],
] as const satisfies readonly [string, Partial<StampingOptions>][];
const GET = { method: 'GET', url: new URL('http://127.0.0.1/'), headers: [], body: null } as const;
const WHOLE_BODY = { kind: 'read', maxBytes: 1e6, keepBytes: 1e6 } as const;
const OPEN_FILES = '/proc/self/fd';
// Only Linux has kernel times; elsewhere the event loop measures.
const onLinux = describe.runIf(process.platform === 'linux');

let identity: Identity;
beforeAll(async () => {
  identity = await createSelfSigned({ addresses: ['127.0.0.1'] });
});

interface Held {
  readonly exchange: ExchangeResult;
  readonly sends: StampedSends;
  readonly starvation: AttemptStarvation;
  /** Before the request was sent. */
  readonly beganMs: number;
}

async function connectedTo(
  { port }: Pick<StampingServer, 'port'>,
  protocol: StampingOptions['protocol'],
) {
  const wire = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(wire, 'connect');
  if (protocol === 'http') return { wire, socket: wire };
  const ALPNProtocols = [protocol === 'h2' ? 'h2' : 'http/1.1'];
  const socket: Socket = connectTls({ socket: wire, ALPNProtocols, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return { wire, socket };
}

/** The point at which the event loop is blocked until after the rest of the response. */
type HeldAt = 'the head' | 'the first part';

/** Resolves with the first exchange whose first byte and end the kernel timed: see exchangeHeld. */
async function exchangeHeldAt(
  heldAt: HeldAt,
  options: (typeof PROTOCOLS)[number][1],
): Promise<Held> {
  for (;;) {
    const held = await exchangeHeldOnceAt(heldAt, options);
    if (held.exchange.isTimedByKernel && held.exchange.unseenMs > 0) return held;
  }
}

async function exchangeHeldOnceAt(
  heldAt: HeldAt,
  options: (typeof PROTOCOLS)[number][1],
): Promise<Held> {
  const isAtHead = heldAt === 'the head';
  const parts = isAtHead ? { headFirst: true, partsAfterMs: [null] } : { partsAfterMs: [10, null] };
  const server = await stampingServer({ ...options, ...parts, identity });
  const starvation = await realStarvation(() => performance.eventLoopUtilization().idle);
  const { wire, socket } = await connectedTo(server, options.protocol);
  let hasHeld: boolean = false;
  const hold = (): void => {
    if (hasHeld) return;
    hasHeld = true;
    server.sendNext();
    server.untilSent();
    holdLoop(HELD_MS);
  };
  // Right after the event of the head, which is in the middle of the read that brought it.
  const planOf = () => {
    if (isAtHead) queueMicrotask(hold);
    return WHOLE_BODY;
  };
  const context = { ...makeContext({ starvation }), onBody: isAtHead ? undefined : hold };
  const beganMs = performance.now();
  const exchange = await runExchange(socket, GET, context, planOf, wire);
  return { exchange, sends: server.sends(), starvation, beganMs };
}

/**
 * Sends requests, and holds the event loop until the whole response has come, and longer. Resolves
 * with the first exchange that the kernel timed: on a busy machine the agent may look too late, and
 * then the event loop measures.
 */
async function exchangeHeld(options: Omit<StampingOptions, 'identity'>): Promise<Held> {
  for (;;) {
    const held = await exchangeHeldOnce(options);
    if (held.exchange.isTimedByKernel) return held;
  }
}

async function exchangeHeldOnce(options: Omit<StampingOptions, 'identity'>): Promise<Held> {
  const starvation = await realStarvation(() => performance.eventLoopUtilization().idle);
  const server = await stampingServer({ ...options, identity });
  const { wire, socket } = await connectedTo(server, options.protocol);
  const beganMs = performance.now();
  const ended = runExchange(socket, GET, makeContext({ starvation }), () => WHOLE_BODY, wire);
  setImmediate(() => {
    server.untilSent();
    holdLoop(HELD_MS);
  });
  return { exchange: await ended, sends: server.sends(), starvation, beganMs };
}

/** Blocks the event loop after each reading of the clock of the kernel's times. */
function readSlowly(sockets: KernelSockets | null, onRead: () => void): void {
  const segments = sockets?.segments ?? null;
  if (segments === null) throw new Error('the kernel does not time segments');
  const now = segments.now.bind(segments);
  vi.spyOn(segments, 'now').mockImplementation(() => {
    const stamp = now();
    holdLoop(SLOW_READING_MS);
    onRead();
    return stamp;
  });
}

function firstByteOf({ firstByteMs, sentMs }: ExchangeResult): number {
  return (firstByteMs ?? Number.NaN) - sentMs;
}

function totalOf({ endMs, sentMs }: ExchangeResult): number {
  return endMs - sentMs;
}

onLinux.each(PROTOCOLS)('over %s', (_name, protocol) => {
  it('the first byte has its true time where the event loop is held until after it', async () => {
    const { exchange, sends, beganMs } = await exchangeHeld({ ...protocol, partsAfterMs: [30] });
    const [part] = sends.parts;
    expect(exchange).toMatchObject({ head: { status: 200 }, ending: null, isTimedByKernel: true });
    expect(firstByteOf(exchange)).toBeGreaterThan((part?.beforeMs ?? 0) - sends.requestCameMs);
    expect(firstByteOf(exchange)).toBeLessThan((part?.afterMs ?? 0) - beganMs);
    expect(exchange.endMs - (exchange.firstByteMs ?? 0)).toBeLessThan(HELD_MS);
    expect(exchange.unseenMs).toBeGreaterThan(HELD_MS);
  });

  it('no time is too short, nor exact, where more of the response comes while it is held', async () => {
    const partsAfterMs = [10, 60];
    const { exchange, sends, starvation } = await exchangeHeld({ ...protocol, partsAfterMs });
    const [first, last] = sends.parts;
    const trueMs = (first?.beforeMs ?? 0) - sends.requestCameMs;
    expect(firstByteOf(exchange)).toBeGreaterThan(trueMs);
    expect(totalOf(exchange)).toBeGreaterThan((last?.beforeMs ?? 0) - sends.requestCameMs);
    expect(starvation.uncertainMs).toBeGreaterThan((last?.beforeMs ?? 0) - (first?.afterMs ?? 0));
  });

  it('the rest has its true time where the loop is held only after the first part was read', async () => {
    const { exchange, sends, beganMs } = await exchangeHeldAt('the first part', protocol);
    const [first, last] = sends.parts;
    expect(firstByteOf(exchange)).toBeGreaterThan((first?.beforeMs ?? 0) - sends.requestCameMs);
    expect(firstByteOf(exchange)).toBeLessThan((first?.afterMs ?? 0) - beganMs);
    expect(totalOf(exchange)).toBeGreaterThan((last?.beforeMs ?? 0) - sends.requestCameMs);
    expect(totalOf(exchange)).toBeLessThan((last?.afterMs ?? 0) - beganMs);
  });

  it('the body has its true time where the loop is held after a head that came alone', async () => {
    const { exchange, sends, beganMs } = await exchangeHeldAt('the head', protocol);
    const [part] = sends.parts;
    expect(totalOf(exchange)).toBeGreaterThan((part?.beforeMs ?? 0) - sends.requestCameMs);
    expect(totalOf(exchange)).toBeLessThan((part?.afterMs ?? 0) - beganMs);
  });

  it('an exchange ends if its connection is destroyed before the response', async () => {
    const server = await stampingServer({ ...protocol, identity, partsAfterMs: [60_000] });
    const { wire, socket } = await connectedTo(server, protocol.protocol);
    const context = makeContext({ starvation: await realStarvation() });
    const ended = runExchange(socket, GET, context, () => WHOLE_BODY, wire);
    setImmediate(() => wire.destroy());
    expect((await ended).ending).not.toBeNull();
  });

  it('the event loop times a response if the wall clock was set before it came', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs };
    const server = await stampingServer({ ...protocol, identity, partsAfterMs: [30] });
    const { wire, socket } = await connectedTo(server, protocol.protocol);
    const context = makeContext({ clock, starvation: await realStarvation() });
    const ended = runExchange(socket, GET, context, () => WHOLE_BODY, wire);
    aheadMs = 1000;
    expect(await ended).toMatchObject({ ending: null, isTimedByKernel: false, unseenMs: 0 });
  });

  it('a response has its true time within its uncertainty if the clocks are read slowly', async () => {
    let hasRead = false;
    while (!hasRead) {
      const server = await stampingServer({ ...protocol, identity, partsAfterMs: [30] });
      const starvation = await realStarvation();
      readSlowly(starvation.sockets, () => {
        hasRead = true;
      });
      const { wire, socket } = await connectedTo(server, protocol.protocol);
      const context = makeContext({ starvation });
      const beganMs = performance.now();
      const exchange = await runExchange(socket, GET, context, () => WHOLE_BODY, wire);
      if (!hasRead) continue;
      // The response may be here before the server has noted when it was sent.
      server.untilSent();
      const [part] = server.sends().parts;
      expect(exchange).toMatchObject({ ending: null, isTimedByKernel: true });
      expect(starvation.uncertainMs).toBeGreaterThanOrEqual(SLOW_READING_MS);
      const leastMs = firstByteOf(exchange) - starvation.uncertainMs;
      expect(leastMs).toBeLessThan((part?.afterMs ?? 0) - beganMs);
    }
  });

  it('no descriptor remains after responses and cancelled exchanges', async () => {
    const starvation = await realStarvation();
    // After a reset, Node may leave the server's end open: it must not be of this process.
    const server = await separateServer({ ...protocol, identity, partsAfterMs: [20] });
    const codeOf = async (signal: AbortSignal): Promise<string | null> => {
      const { wire, socket } = await connectedTo(server, protocol.protocol);
      const context = makeContext({ starvation, signal });
      const closed = once(wire, 'close');
      const { ending } = await runExchange(socket, GET, context, () => ({ kind: 'none' }), wire);
      await closed;
      return ending?.code ?? null;
    };
    expect(await codeOf(new AbortController().signal)).toBeNull();
    const before = readdirSync(OPEN_FILES).length;
    for (let count = 0; count < 5; count += 1) {
      const cancelled = new AbortController();
      const code = codeOf(cancelled.signal);
      setImmediate(() => setImmediate(() => cancelled.abort()));
      expect(await code).toBe('CANCELLED');
      expect(await codeOf(new AbortController().signal)).toBeNull();
    }
    await eventually(() => readdirSync(OPEN_FILES).length <= before);
  });
});

onLinux('over HTTP/2', () => {
  it('a delay of the agent before it sends the request is in no time of the response', async () => {
    let isTimed = false;
    while (!isTimed) {
      const server = await stampingServer({ protocol: 'h2', identity, partsAfterMs: [1] });
      const { wire, socket } = await connectedTo(server, 'h2');
      const context = makeContext({ starvation: await realStarvation() });
      const beganMs = performance.now();
      const ended = runExchange(socket, GET, context, () => WHOLE_BODY, wire);
      const heldFromMs = performance.now();
      holdLoop(HELD_MS);
      const heldUntilMs = performance.now();
      const exchange = await ended;
      isTimed = exchange.isTimedByKernel;
      if (!isTimed) continue;
      server.untilSent();
      const [part] = server.sends().parts;
      // The kernel knows in which of its ticks it sent the request.
      const longestMs = (part?.afterMs ?? 0) - heldUntilMs + 2 * MAX_TICK_MS;
      expect(firstByteOf(exchange)).toBeLessThan(longestMs);
      const responseMs = exchange.endMs - exchange.unseenMs - beganMs;
      expect(responseMs).toBeLessThan(longestMs + heldFromMs - beganMs);
    }
  });
});
