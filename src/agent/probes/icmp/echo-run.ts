import { randomBytes } from 'node:crypto';
import { sleep } from '../../../runtime/wait.ts';
import type { ProbeContext } from '../probe.ts';
import type { Destination } from './address-bytes.ts';
import type { CancelEcho, EchoEnd, EchoExchange } from './echo-exchange.ts';
import { TOKEN_BYTES } from './echo-packet.ts';

/** Between the sends of a run (SEMANTICS 1, Checks). */
const ECHO_INTERVAL_MS = 500;
/** Each echo waits this long for its reply, wherever in its run it stands. */
const ECHO_TIMEOUT_MS = 2000;

/**
 * Sends `count` echo requests 500 ms apart and waits for their ends. Returns one end for each that
 * was attempted: fewer than `count` where the attempt's time was up or its signal aborted.
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

/** Modes: sending, waiting (all sent, some outstanding), ended. */
class EchoRun {
  readonly #exchange: EchoExchange;
  readonly #destination: Destination;
  readonly #count: number;
  readonly #context: ProbeContext;
  readonly #token = randomBytes(TOKEN_BYTES);
  /** Undefined while outstanding. */
  readonly #ends: (EchoEnd | undefined)[] = [];
  readonly #outstanding = new Map<number, CancelEcho>();
  readonly #stop = new AbortController();
  #wake: () => void = () => undefined;

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
  }

  async finish(): Promise<readonly EchoEnd[]> {
    const { clock, signal, deadlineMs } = this.#context;
    const onAbort = (): void => this.#end();
    if (signal.aborted) return [];
    signal.addEventListener('abort', onAbort, { once: true });
    const cancelDeadline = clock.after(deadlineMs - clock.monotonicMs(), () => this.#end());
    try {
      await this.#sendAll();
      await this.#settled();
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', onAbort);
    }
    return this.#ends.map((end) => end ?? { kind: 'lost' });
  }

  /**
   * By the plan made at the start, so that the lateness of one send does not move the others. An
   * echo that could not have its full time for a reply is not sent: it would be counted as lost.
   */
  async #sendAll(): Promise<void> {
    const { clock, deadlineMs, log } = this.#context;
    const startMs = clock.monotonicMs();
    for (let index = 0; index < this.#count; index += 1) {
      const inMs = startMs + index * ECHO_INTERVAL_MS - clock.monotonicMs();
      if (index > 0 && !(await sleep(clock, inMs, this.#stop.signal))) return;
      if (index > 0 && clock.monotonicMs() + ECHO_TIMEOUT_MS > deadlineMs) {
        const left = this.#count - index;
        log.warn(`the time left is too short for the last ${left} echo requests: not sent`);
        return;
      }
      this.#send(index);
    }
  }

  #send(index: number): void {
    this.#ends[index] = undefined;
    const request = {
      destination: this.#destination,
      token: this.#token,
      timeoutMs: ECHO_TIMEOUT_MS,
    };
    let ended = false;
    const cancel = this.#exchange.start(request, (end) => {
      ended = true;
      this.#ends[index] = end;
      this.#outstanding.delete(index);
      if (this.#outstanding.size === 0) this.#wake();
    });
    if (!ended) this.#outstanding.set(index, cancel);
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#outstanding.size === 0) resolve();
    });
  }

  /** The deadline or an abort: nothing more is sent, and what is outstanding stays unanswered. */
  #end(): void {
    this.#exchange.drain();
    this.#stop.abort();
    for (const cancel of this.#outstanding.values()) cancel();
    this.#outstanding.clear();
    this.#wake();
  }
}
