import type { Socket } from 'node:net';
import { EXACT_MS } from '../../net/deadline-extension.ts';
import { type SocketState, socketState } from '../../net/kernel/kernel-sockets.ts';
import { MIN_PEER_MS, peerTookMs } from '../../net/kernel/peer-activity.ts';
import { ResponseArrival } from '../../net/kernel/response-arrival.ts';
import { earliestSendMs, writtenBytes } from '../../net/kernel/send-time.ts';
import { type StarvationMark, uncertainBetween } from '../../net/starvation-watch.ts';
import type { ProbeContext } from '../probe.ts';

export interface TimedExchange {
  /**
   * Monotonic instants, milliseconds: the request began to be sent; first byte; last byte. The
   * first two are later by the delay after the arrival of the last byte.
   */
  readonly sentMs: number;
  readonly firstByteMs: number | null;
  readonly endMs: number;
  /**
   * Milliseconds of the agent's own delays before it sent the request, and between the arrival of
   * the last byte and its reading by the event loop. 0 if the kernel did not time the response.
   */
  readonly unseenMs: number;
  /** The kernel timed the first byte. */
  readonly isTimedByKernel: boolean;
  /** The kernel's lower bound of the peer's time; 0 if it was not needed or is not available. */
  readonly peerMs: number;
}

/** HTTP/2 writes in an immediate of Node's own, which comes before ours. */
const MAX_SEND_CHECKS = 3;

/**
 * Measures the times of an exchange: by the kernel where possible, otherwise in the event loop. No
 * time is too short, and those of the kernel are exact if the whole response was one segment.
 */
export class ExchangeTimes {
  readonly #context: ProbeContext;
  readonly #wire: Socket;
  readonly #arrival: ResponseArrival | null;
  readonly #since: StarvationMark | undefined;
  readonly #segmentsBefore: number | null;
  readonly #writtenBefore: number;
  #sentMs: number;
  /** Sending began at most this many milliseconds after `sentMs`; null: not known yet. */
  #sendingMs: number | null = null;
  /** How much later than first noted the request was sent, because the agent had no CPU. */
  #delayedMs = 0;
  #firstByteMs: number | null = null;
  #endMs = 0;
  #seenLateMs = 0;
  #unseenMs = 0;
  #peerMs = 0;
  #isTimedByKernel: boolean = false;
  #isOver: boolean = false;
  #hasPaused: boolean = false;

  /**
   * Create it right before the request is sent; `end` must follow.
   *
   * @param startsResponse whatever the peer sends from now on is the response
   */
  constructor(context: ProbeContext, wire: Socket, startsResponse: boolean) {
    const { clock, starvation } = context;
    const sockets = starvation?.sockets ?? null;
    this.#context = context;
    this.#wire = wire;
    this.#arrival = ResponseArrival.begin(sockets, wire, startsResponse, clock);
    const hasRead = this.#arrival !== null && wire.bytesRead > 0;
    this.#segmentsBefore = hasRead ? (socketState(sockets, wire)?.dataSegmentsIn ?? null) : 0;
    this.#writtenBefore = writtenBytes(wire);
    this.#sentMs = clock.monotonicMs();
    this.#since = starvation?.mark();
  }

  /** The transport has started. */
  sent(): void {
    if (this.#arrival !== null) this.#noteSent(MAX_SEND_CHECKS);
  }

  /** The first byte was read; again after an interim response. */
  firstByte(): void {
    const { clock, starvation } = this.#context;
    const seenMs = clock.monotonicMs();
    const arrivedMs = this.#arrival?.firstByteMs() ?? null;
    const isArrival = arrivedMs !== null && arrivedMs >= this.#sentMs;
    this.#firstByteMs = isArrival ? arrivedMs : seenMs;
    this.#isTimedByKernel = isArrival;
    // Only after a slow answer to a starved agent: otherwise the kernel knows no more than we do.
    if (starvation === undefined || seenMs - this.#sentMs < MIN_PEER_MS) return;
    if (starvation.starvedMs >= EXACT_MS) {
      this.#peerMs = peerTookMs(starvation.sockets, this.#wire);
    }
  }

  head(): void {
    this.#firstByteMs ??= this.#context.clock.monotonicMs();
  }

  /** A part of the response was read, which did not complete it. */
  read(): void {
    if (this.#firstByteMs !== null) this.#arrival?.again();
  }

  /** Reading paused: the rest is timed by the event loop. */
  paused(): void {
    this.#hasPaused = true;
    this.#arrival?.end();
  }

  /** @param isComplete the response is complete, by the last read */
  end(isComplete: boolean, connection: SocketState | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock, starvation } = this.#context;
    const lastMs = isComplete && !this.#hasPaused ? (this.#arrival?.lastByteMs() ?? null) : null;
    this.#arrival?.end();
    const until = lastMs === null ? undefined : starvation?.mark();
    this.#endMs = clock.monotonicMs();
    if (lastMs === null || !this.#isTimedByKernel) return;
    if (this.#since === undefined || until === undefined) return;
    const span = { since: this.#since, until };
    this.#seenLateMs = this.#endMs - lastMs;
    const unseenMs = this.#delayedMs + this.#seenLateMs;
    const uncertainMs = this.#isOneSegment(connection)
      ? (this.#sendingMs ?? 0)
      : Math.max(0, uncertainBetween(span.since, span.until) - unseenMs);
    this.#unseenMs = unseenMs;
    const slowReadingMs = this.#arrival?.slowReadingMs ?? 0;
    starvation?.timedByKernel({ ...span, unseenMs, uncertainMs, slowReadingMs });
  }

  get result(): TimedExchange {
    const firstByteMs = this.#firstByteMs;
    return {
      sentMs: this.#sentMs + this.#seenLateMs,
      firstByteMs: firstByteMs === null ? null : firstByteMs + this.#seenLateMs,
      endMs: this.#endMs,
      unseenMs: this.#unseenMs,
      isTimedByKernel: this.#isTimedByKernel,
      peerMs: this.#peerMs,
    };
  }

  #isOneSegment(connection: SocketState | null): boolean {
    const segments = connection?.dataSegmentsIn ?? null;
    if (segments === null || this.#segmentsBefore === null || this.#sendingMs === null)
      return false;
    return segments - this.#segmentsBefore === 1;
  }

  /** The time for which the thread had no CPU before it wrote is not the target's. */
  #noteSent(checks: number): void {
    if (this.#isOver) return;
    const nowMs = this.#context.clock.monotonicMs();
    const bytes = writtenBytes(this.#wire) - this.#writtenBefore;
    if (bytes === 0) {
      if (checks === 0) return;
      setImmediate(() => {
        this.#arrival?.holdOn();
        this.#noteSent(checks - 1);
      });
      return;
    }
    this.#sendingMs = nowMs - this.#sentMs;
    if (this.#sendingMs < EXACT_MS || this.#firstByteMs !== null) return;
    const sockets = this.#context.starvation?.sockets ?? null;
    const earliestMs = earliestSendMs(sockets, this.#wire, { bytes, nowMs });
    if (earliestMs === null || earliestMs <= this.#sentMs) return;
    this.#delayedMs = earliestMs - this.#sentMs;
    this.#sentMs = earliestMs;
    this.#sendingMs = nowMs - earliestMs;
  }
}
