import type { Clock } from '../../../runtime/clock.ts';
import type { Destination } from './address-bytes.ts';
import { echoData, TOKEN_BYTES } from './echo-packet.ts';
import type {
  EchoReceiver,
  PingTransport,
  ReceivedError,
  ReceivedReply,
  Sent,
} from './ping-transport.ts';

/** How one echo ended. */
export type EchoEnd =
  | { readonly kind: 'answered'; readonly rttMs: number; readonly ttl: number | null }
  /** Sent, and no answer within its time. */
  | { readonly kind: 'lost' }
  /** Sent, and a router or the host answered that it got nowhere. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** Not sent: the network refused it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not sent, or its answer not received, through a fault of ours. */
  | { readonly kind: 'fault'; readonly reason: string };

export interface EchoRequest {
  readonly destination: Destination;
  /** 8 random bytes of the run, by which its replies are known. */
  readonly token: Buffer;
  /** An answer counts if it came within this time of the send. */
  readonly timeoutMs: number;
}

interface Outstanding extends EchoRequest {
  sentAtMs: number | null;
  cancelTimer: () => void;
  readonly settle: (end: EchoEnd) => void;
}

/** Ends an echo without an answer. Calling it after its end does nothing. */
export type CancelEcho = () => void;

const SEQUENCES = 0x1_0000;

/**
 * Matches echoes of all runs on one socket with their replies: by sequence number, target address
 * and token. A number is not used again while its echo is outstanding, so 65,536 can be at once.
 */
export class EchoExchange implements EchoReceiver {
  readonly #clock: Clock;
  readonly #outstanding = new Map<number, Outstanding>();
  #transport: PingTransport | null = null;
  #brokenReason: string | null = null;
  #nextSequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called once, before the first echo; the exchange then owns the transport. */
  attach(transport: PingTransport): void {
    this.#transport = transport;
    if (!this.usable) transport.close();
  }

  /** False once the socket broke: further runs need a new exchange. */
  get usable(): boolean {
    return this.#brokenReason === null;
  }

  /** Reads what has already arrived, before echoes are given up. */
  drain(): void {
    this.#transport?.drain();
  }

  /** Closes the socket; an echo still outstanding ends as a fault, so that nobody waits for it. */
  close(): void {
    this.#transport?.close();
    this.broken('the ICMP probe was closed');
  }

  /** Sends one echo request. `settle` is called exactly once unless the echo is cancelled. */
  start(request: EchoRequest, settle: (end: EchoEnd) => void): CancelEcho {
    const sequence = this.#takeSequence();
    if (this.#transport === null || this.#brokenReason !== null || sequence === null) {
      const reason = this.#brokenReason ?? `all ${SEQUENCES} sequence numbers are in use`;
      settle({ kind: 'fault', reason });
      return () => undefined;
    }
    const echo: Outstanding = { ...request, sentAtMs: null, cancelTimer: () => undefined, settle };
    this.#outstanding.set(sequence, echo);
    this.#transport.send(request.destination, sequence, echoData(request.token), (sent) =>
      this.#onSent(sequence, echo, sent),
    );
    return () => this.#take(sequence, echo);
  }

  reply({ sequence, source, data, ttl, waitedMs }: ReceivedReply): void {
    const readAtMs = this.#clock.monotonicMs();
    const echo = this.#outstanding.get(sequence);
    if (echo === undefined || echo.sentAtMs === null) return;
    if (!source.equals(echo.destination.bytes)) return;
    if (!data.subarray(0, TOKEN_BYTES).equals(echo.token)) return;
    const rttMs = roundTripMs(echo.sentAtMs, readAtMs, waitedMs);
    if (rttMs > echo.timeoutMs) return;
    this.#settle(sequence, echo, { kind: 'answered', rttMs, ttl });
  }

  error({ sequence, target, data, reason }: ReceivedError): void {
    const echo = this.#outstanding.get(sequence);
    if (echo === undefined || echo.sentAtMs === null) return;
    if (!target.equals(echo.destination.bytes)) return;
    // Routers need not quote as far as the token; what they quote of it has to be ours.
    const quoted = data.subarray(0, TOKEN_BYTES);
    if (!quoted.equals(echo.token.subarray(0, quoted.length))) return;
    this.#settle(sequence, echo, { kind: 'unreachable', reason });
  }

  broken(reason: string): void {
    this.#brokenReason ??= reason;
    for (const [sequence, echo] of this.#outstanding) {
      this.#settle(sequence, echo, { kind: 'fault', reason });
    }
  }

  #onSent(sequence: number, echo: Outstanding, sent: Sent): void {
    if (this.#outstanding.get(sequence) !== echo) return;
    if (sent.kind !== 'sent') {
      this.#settle(sequence, echo, sent);
      return;
    }
    echo.sentAtMs = sent.sentAtMs;
    echo.cancelTimer = this.#clock.after(echo.timeoutMs, () => {
      // Timers come before sockets in a turn of the event loop: after a stall the reply may be here.
      this.drain();
      this.#settle(sequence, echo, { kind: 'lost' });
    });
  }

  #settle(sequence: number, echo: Outstanding, end: EchoEnd): void {
    if (this.#take(sequence, echo)) echo.settle(end);
  }

  #take(sequence: number, echo: Outstanding): boolean {
    if (this.#outstanding.get(sequence) !== echo) return false;
    this.#outstanding.delete(sequence);
    echo.cancelTimer();
    return true;
  }

  #takeSequence(): number | null {
    if (this.#outstanding.size >= SEQUENCES) return null;
    while (this.#outstanding.has(this.#nextSequence)) this.#advance();
    const sequence = this.#nextSequence;
    this.#advance();
    return sequence;
  }

  #advance(): void {
    this.#nextSequence = (this.#nextSequence + 1) % SEQUENCES;
  }
}

/**
 * From the send to the kernel's receipt, or to our reading where the kernel's receipt is not known
 * or, because the wall clock was set in between, lies before the send or after the reading.
 */
export function roundTripMs(sentAtMs: number, readAtMs: number, waitedMs: number | null): number {
  const toReadingMs = readAtMs - sentAtMs;
  if (waitedMs === null || waitedMs < 0 || waitedMs > toReadingMs) return toReadingMs;
  return toReadingMs - waitedMs;
}
