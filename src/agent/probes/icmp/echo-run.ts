import { randomBytes } from 'node:crypto';
import type { CancelTimer } from '../../../runtime/clock.ts';
import type { ProbeContext } from '../probe.ts';
import type { Destination } from './address-bytes.ts';
import {
  type CancelEcho,
  ECHO_TIMEOUT_MS,
  type EchoEnd,
  type EchoExchange,
} from './echo-exchange.ts';
import { TOKEN_BYTES } from './echo-packet.ts';

/** Interval of the echo requests of a run (src/model/README.md, "ICMP: `request`"). */
const ECHO_INTERVAL_MS = 500;

/**
 * Sends `count` echo requests 500 ms apart and waits for their outcomes. Returns one outcome per
 * attempted echo: fewer than `count` if the time of the attempt was up or its signal aborted.
 */
export async function runEchoes(
  exchange: EchoExchange,
  destination: Destination,
  count: number,
  context: ProbeContext,
): Promise<readonly EchoEnd[]> {
  const run = new EchoRun(exchange, destination, count, context);
  return await run.finish();
}

/**
 * Modes: sending (the next send's timer runs), waiting (nothing more is sent, some echoes are
 * outstanding), ended.
 */
class EchoRun {
  readonly #exchange: EchoExchange;
  readonly #destination: Destination;
  readonly #count: number;
  readonly #context: ProbeContext;
  readonly #token = randomBytes(TOKEN_BYTES);
  readonly #startMs: number;
  /** Undefined while outstanding. */
  readonly #ends: (EchoEnd | undefined)[] = [];
  readonly #outstanding = new Map<number, CancelEcho>();
  #mode: 'sending' | 'waiting' | 'ended' = 'sending';
  #cancelNext: CancelTimer = () => undefined;
  #finished: () => void = () => undefined;
  #broke: (error: unknown) => void = () => undefined;

  constructor(
    exchange: EchoExchange,
    destination: Destination,
    count: number,
    context: ProbeContext,
  ) {
    this.#exchange = exchange;
    this.#destination = destination;
    this.#count = count;
    this.#context = context;
    this.#startMs = context.clock.monotonicMs();
  }

  async finish(): Promise<readonly EchoEnd[]> {
    const { clock, signal, deadlineMs } = this.#context;
    const onAbort = (): void => this.#end();
    if (signal.aborted) return [];
    signal.addEventListener('abort', onAbort, { once: true });
    const cancelDeadline = clock.after(deadlineMs - this.#startMs, onAbort);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#finished = resolve;
        this.#broke = reject;
        this.#sendNext();
      });
    } finally {
      this.#cancelNext();
      cancelDeadline();
      signal.removeEventListener('abort', onAbort);
    }
    return this.#ends.map((end) => end ?? { kind: 'lost' });
  }

  /**
   * Send times are fixed at the start, so a late send does not delay the others. Uses a timer
   * rather than an awaited sleep: the promises and listeners of a run took longer than its echoes.
   */
  #sendNext(): void {
    try {
      while (this.#mode === 'sending' && this.#maySendMore()) {
        this.#send(this.#ends.length);
        const { clock } = this.#context;
        const inMs = this.#startMs + this.#ends.length * ECHO_INTERVAL_MS - clock.monotonicMs();
        if (this.#ends.length < this.#count && inMs > 0) {
          this.#cancelNext = clock.after(inMs, () => this.#sendNext());
          return;
        }
      }
      if (this.#mode === 'sending') this.#mode = 'waiting';
      this.#finishIfSettled();
    } catch (error) {
      this.#broke(error);
    }
  }

  /** An echo that could not have its full time is not sent: it would count as lost. */
  #maySendMore(): boolean {
    const left = this.#count - this.#ends.length;
    if (left === 0 || left === this.#count) return left > 0;
    const { clock, deadlineMs, log } = this.#context;
    if (clock.monotonicMs() + ECHO_TIMEOUT_MS <= deadlineMs) return true;
    log.warn(`the time left is too short for the last ${left} echo requests: not sent`);
    return false;
  }

  #send(index: number): void {
    this.#ends[index] = undefined;
    const request = { destination: this.#destination, token: this.#token };
    let ended = false;
    const cancel = this.#exchange.start(request, (end) => {
      ended = true;
      this.#ends[index] = end;
      this.#outstanding.delete(index);
      this.#finishIfSettled();
    });
    if (!ended) this.#outstanding.set(index, cancel);
  }

  #finishIfSettled(): void {
    if (this.#mode === 'sending' || this.#outstanding.size > 0) return;
    this.#mode = 'ended';
    this.#finished();
  }

  /** Called at the deadline or on an abort: sends no more, and outstanding echoes count as lost. */
  #end(): void {
    this.#mode = 'waiting';
    this.#exchange.drain(() => {
      for (const cancel of this.#outstanding.values()) cancel();
      this.#outstanding.clear();
      this.#finishIfSettled();
    });
  }
}
