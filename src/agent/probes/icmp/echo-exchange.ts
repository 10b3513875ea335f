import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import type { Destination } from './address-bytes.ts';
import { echoData, TOKEN_BYTES } from './echo-packet.ts';
import type {
  EchoReceiver,
  EchoSent,
  PingTransport,
  ReceivedError,
  ReceivedReply,
} from './ping-transport.ts';

export type EchoEnd =
  | {
      readonly kind: 'answered';
      readonly rttMs: number;
      readonly ttl: number | null;
      /** Upper bound of the error of `rttMs`; null if the kernel did not stamp the reply. */
      readonly uncertainMs: number | null;
    }
  /** Sent, and no answer within its time. */
  | { readonly kind: 'lost' }
  /** Sent, and a router or the host reported it undeliverable. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** Not sent: the network refused it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not sent, or its answer not received, because of a fault of ours. */
  | { readonly kind: 'fault'; readonly reason: string };

export interface EchoRequest {
  readonly destination: Destination;
  /** 8 random bytes of the run, which identify its replies. */
  readonly token: Buffer;
}

interface Outstanding {
  readonly sequence: number;
  readonly request: EchoRequest;
  /** NaN before the send, so that no reply is in time. */
  sentAtMs: number;
  /** Milliseconds that the system call took. */
  sendTookMs: number;
  readonly settle: (end: EchoEnd) => void;
}

/** Ends an echo without an answer. Calling it after its end does nothing. */
export type CancelEcho = () => void;

const SEQUENCES = 0x1_0000;
/** Time limit for the reply to each echo. */
export const ECHO_TIMEOUT_MS = 2000;

/**
 * Matches echoes of all runs on one socket with their replies: by sequence number, target address
 * and token. No number is reused while its echo is outstanding: at most 65,536 echoes can be.
 */
export class EchoExchange implements EchoReceiver {
  readonly #clock: Clock;
  readonly #outstanding = new Map<number, Outstanding>();
  /**
   * Sent echoes, in the order of their sends and therefore of their deadlines: one timer, set for
   * the oldest, serves all. A timer for each took a fifth of the time of an echo.
   */
  readonly #sent = new Set<Outstanding>();
  #cancelTimer: CancelTimer | null = null;
  /** Data of the echo being sent, with the token of its run. */
  readonly #data = echoData(Buffer.alloc(TOKEN_BYTES));
  #transport: PingTransport | null = null;
  #brokenReason: string | null = null;
  #nextSequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it once, before the first echo; the exchange then owns the transport. */
  attach(transport: PingTransport): void {
    this.#transport = transport;
    if (!this.usable) transport.close();
  }

  /** False once the socket broke: further runs need a new exchange. */
  get usable(): boolean {
    return this.#brokenReason === null;
  }

  /** Delivers what has already arrived and then calls `done`, before echoes are given up. */
  drain(done: () => void): void {
    if (this.#transport === null) done();
    else this.#transport.drain(done);
  }

  /** Closes the socket; outstanding echoes end as faults, so that no run waits for them. */
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
    const echo: Outstanding = { sequence, request, sentAtMs: Number.NaN, sendTookMs: 0, settle };
    this.#outstanding.set(sequence, echo);
    this.#data.set(request.token);
    this.#transport.send(request.destination, sequence, this.#data, (sent) =>
      this.#onSent(echo, sent),
    );
    return () => this.#take(echo);
  }

  reply({ sequence, source, data, ttl, waitedMs }: ReceivedReply): void {
    const readAtMs = this.#clock.monotonicMs();
    const echo = this.#outstanding.get(sequence);
    if (echo === undefined) return;
    const { request, sentAtMs } = echo;
    if (source.length !== request.destination.bytes.length) return;
    if (!startsWith(source, request.destination.bytes)) return;
    if (!startsWith(data, request.token)) return;
    const rttMs = roundTripMs(sentAtMs, readAtMs, waitedMs);
    const isTimedByKernel = isStamped(readAtMs - sentAtMs, waitedMs);
    // Without a stamp, a reply that was read late may have arrived in time.
    const limitMs = isTimedByKernel ? ECHO_TIMEOUT_MS : Number.POSITIVE_INFINITY;
    if (!(rttMs <= limitMs)) return;
    const uncertainMs = isTimedByKernel ? echo.sendTookMs : null;
    this.#settle(echo, { kind: 'answered', rttMs, ttl, uncertainMs });
  }

  error({ sequence, target, data, reason }: ReceivedError): void {
    const echo = this.#outstanding.get(sequence);
    if (echo === undefined || Number.isNaN(echo.sentAtMs)) return;
    const { destination, token } = echo.request;
    if (!target.equals(destination.bytes)) return;
    // A router may quote only a part of the token, or nothing of it: compare what it quotes.
    const quoted = data.subarray(0, TOKEN_BYTES);
    if (!quoted.equals(token.subarray(0, quoted.length))) return;
    this.#settle(echo, { kind: 'unreachable', reason });
  }

  broken(reason: string): void {
    this.#brokenReason ??= reason;
    for (const echo of this.#outstanding.values()) this.#settle(echo, { kind: 'fault', reason });
  }

  #onSent(echo: Outstanding, sent: EchoSent): void {
    if (this.#outstanding.get(echo.sequence) !== echo) return;
    if (sent.kind !== 'sent') {
      this.#settle(echo, sent);
      return;
    }
    echo.sentAtMs = sent.sentAtMs;
    echo.sendTookMs = sent.tookMs;
    this.#sent.add(echo);
    if (this.#cancelTimer === null) this.#setTimer(ECHO_TIMEOUT_MS);
  }

  #setTimer(delayMs: number): void {
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      this.#cancelTimer = null;
      // Timers run before sockets in an event-loop iteration: after a stall, the reply may be
      // there. The clock comes first: echoes whose time ends during the read are not given up yet.
      const nowMs = this.#clock.monotonicMs();
      this.drain(() => this.#giveUp(nowMs));
    });
  }

  /** Ends echoes whose time was up at this instant, and sets the timer for the next one. */
  #giveUp(nowMs: number): void {
    for (const echo of this.#sent) {
      const leftMs = echo.sentAtMs + ECHO_TIMEOUT_MS - nowMs;
      if (leftMs > 0) {
        // An echo that was started by a `settle` may have set it for later.
        this.#cancelTimer?.();
        this.#setTimer(leftMs);
        return;
      }
      this.#settle(echo, { kind: 'lost' });
    }
  }

  #settle(echo: Outstanding, end: EchoEnd): void {
    if (this.#take(echo)) echo.settle(end);
  }

  #take(echo: Outstanding): boolean {
    if (this.#outstanding.get(echo.sequence) !== echo) return false;
    this.#outstanding.delete(echo.sequence);
    this.#sent.delete(echo);
    if (this.#sent.size === 0) {
      this.#cancelTimer?.();
      this.#cancelTimer = null;
    }
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
 * From the send to the kernel's receipt; to our reading if the receipt is not known, or lies
 * outside of the two because the wall clock was set.
 */
export function roundTripMs(sentAtMs: number, readAtMs: number, waitedMs: number | null): number {
  const toReadingMs = readAtMs - sentAtMs;
  return isStamped(toReadingMs, waitedMs) ? toReadingMs - waitedMs : toReadingMs;
}

function isStamped(toReadingMs: number, waitedMs: number | null): waitedMs is number {
  return waitedMs !== null && waitedMs >= 0 && waitedMs <= toReadingMs;
}

/** Faster for a few bytes than the call of Buffer's own comparison. */
function startsWith(data: Uint8Array, start: Uint8Array): boolean {
  if (data.length < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (data[at] !== start[at]) return false;
  return true;
}
