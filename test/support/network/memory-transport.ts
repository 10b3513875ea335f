import { type Destination, destinationOf } from '../../../src/agent/probes/icmp/address-bytes.ts';
import { EchoExchange } from '../../../src/agent/probes/icmp/echo-exchange.ts';
import type { EchoSent, PingTransport } from '../../../src/agent/probes/icmp/ping-transport.ts';
import type { Clock } from '../../../src/runtime/clock.ts';

interface SentEcho {
  readonly sequence: number;
  readonly destination: Destination;
  readonly data: Buffer;
  readonly atMs: number;
}

/**
 * Replaces the kernel for cases that no real network produces on demand: 65,536 echoes at once,
 * false replies, a wall clock that steps. The integration and system tests use real sockets.
 */
export class MemoryTransport implements PingTransport {
  readonly name = 'memory';
  readonly sent: SentEcho[] = [];
  /** The outcome of the next sends. */
  outcome: 'sent' | 'refused' | 'fault' = 'sent';
  /** The duration of the next sends. */
  sendTookMs = 0;
  /** Runs when the exchange reads received packets. */
  onDrain: () => void = () => undefined;
  /** Whether such a read takes several iterations of the event loop. */
  drainsLater: boolean = false;
  closed = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(
    destination: Destination,
    sequence: number,
    data: Uint8Array,
    done: (sent: EchoSent) => void,
  ): void {
    const atMs = this.#clock.monotonicMs();
    this.sent.push({ sequence, destination, data: Buffer.from(data), atMs });
    if (this.outcome === 'sent') done({ kind: 'sent', sentAtMs: atMs, tookMs: this.sendTookMs });
    else done({ kind: this.outcome, reason: `made to be ${this.outcome}` });
  }

  drain(done: () => void): void {
    if (this.drainsLater) {
      setImmediate(() => {
        this.onDrain();
        done();
      });
      return;
    }
    this.onDrain();
    done();
  }

  close(): void {
    this.closed = true;
  }
}

export function memoryExchange(clock: Clock): {
  exchange: EchoExchange;
  transport: MemoryTransport;
} {
  const exchange = new EchoExchange(clock);
  const transport = new MemoryTransport(clock);
  exchange.attach(transport);
  return { exchange, transport };
}

/** For an address literal of either family. */
export function destination(address: string): Destination {
  return destinationOf(address) ?? { address, bytes: Buffer.alloc(0), scopeId: 0 };
}
