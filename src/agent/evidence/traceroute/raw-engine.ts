import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Family } from '../../net/resolver.ts';
import { addressBytes } from '../../probes/icmp/address-bytes.ts';
import { loadNetPing, type NetPing } from '../../probes/icmp/net-ping.ts';
import {
  type EngineOptions,
  type EngineRun,
  type FoundEngine,
  type HopAnswer,
  MAX_TTL,
  type Meaning,
  type Observed,
  PROBE_WAIT_MS,
  PROBES_PER_HOP,
  type ProbeEnd,
} from './engine.ts';
import { type ProbeSent, type TraceReceiver, TraceSocket } from './trace-socket.ts';

/** Delay between two hops of a round, and duration of a round: routers limit their answers. */
const STEP_MS = 10;
const ROUND_MS = MAX_TTL * STEP_MS;
/**
 * After the first round, probes only this many hops behind the last one that answered: a router
 * that rejects all probes sends at most 50 answers at once (icmp_msgs_burst of Linux).
 */
const HOPS_PROBED_AGAIN = 5;
/** Once the end of the route is known, outstanding probes wait this many longest round trips. */
const WAIT_FACTOR = 4;
const MIN_WAIT_MS = 1000;

/** Raw ICMP sockets through net-ping, if the operating system opens them (CAP_NET_RAW). */
export async function findRawEngine(clock: Clock): Promise<FoundEngine> {
  const loaded = await loadNetPing();
  if (!loaded.ok) return loaded;
  const { netPing } = loaded;
  try {
    const networkProtocol = netPing.NetworkProtocol.IPv4;
    netPing.createSession({ networkProtocol, retries: 0 }).close();
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
  const run = async (
    address: string,
    family: Family,
    options: EngineOptions,
  ): Promise<EngineRun> => {
    const target = addressBytes(address);
    if (target === null) return { ok: false, note: `${address} is not an IP address` };
    let trace: RawTrace;
    try {
      trace = new RawTrace({ family, address, target }, netPing, clock, options);
    } catch (error) {
      return { ok: false, note: `no raw ICMP socket could be opened: ${messageOf(error)}` };
    }
    return await trace.finish();
  };
  return { ok: true, engine: { method: 'raw sockets', run } };
}

interface Probe {
  readonly sentAtMs: number;
  end: ProbeEnd;
}

/**
 * One trace: in each of three rounds, sends an echo request for every hop without waiting for
 * answers, so a silent route costs one wait, not 30. Once the end of the route is known, probes no
 * hops behind it.
 */
class RawTrace implements TraceReceiver {
  readonly #clock: Clock;
  readonly #options: EngineOptions;
  readonly #socket: TraceSocket;
  /** Probes by sequence number. */
  readonly #probes = new Map<number, Probe>();
  readonly #over = new AbortController();
  #mode: 'sending' | 'waiting' | 'ended' = 'sending';
  /** The first hop that is the destination or reports it unreachable. */
  #lastTtl = MAX_TTL;
  #lastAnswering = 0;
  #longestMs = 0;
  #ended: Observed['ended'] = 'complete';
  #failure: string | null = null;
  #wait: CancelTimer = () => undefined;

  /** @throws Error of the addon if the operating system does not allow a raw socket. */
  constructor(
    target: { readonly family: Family; readonly address: string; readonly target: Buffer },
    netPing: NetPing,
    clock: Clock,
    options: EngineOptions,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#socket = new TraceSocket(target, netPing, clock, this);
  }

  /** Call it once. The socket is closed when it resolves. */
  async finish(): Promise<EngineRun> {
    const { signal, deadlineMs } = this.#options;
    const clock = this.#clock;
    const onAbort = (): void => this.#end('stopped');
    const cancel = clock.after(deadlineMs - clock.monotonicMs(), () => this.#end('time limit'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#sendAll();
      this.#startWaiting();
      await this.#untilEnd();
    } finally {
      cancel();
      this.#wait();
      signal.removeEventListener('abort', onAbort);
      this.#socket.close();
    }
    if (this.#failure !== null) return { ok: false, note: this.#failure };
    return { ok: true, observed: { hops: this.#hops(), ended: this.#ended } };
  }

  answer(sequence: number, address: string, meaning: Meaning, atMs: number): void {
    const probe = this.#probes.get(sequence);
    if (probe === undefined || probe.end !== null || this.#mode === 'ended') return;
    const rttMs = Math.max(0, atMs - probe.sentAtMs);
    const answer: HopAnswer = { address, rttMs, meaning };
    probe.end = answer;
    this.#longestMs = Math.max(this.#longestMs, rttMs);
    this.#lastAnswering = Math.max(this.#lastAnswering, ttlOf(sequence));
    if (meaning !== 'on the way') this.#lastTtl = Math.min(this.#lastTtl, ttlOf(sequence));
    this.#settle();
  }

  broken(reason: string): void {
    this.#failure ??= reason;
    this.#end('stopped');
  }

  /** Send times are fixed at the start, so a late send does not delay the others. */
  async #sendAll(): Promise<void> {
    const clock = this.#clock;
    const startMs = clock.monotonicMs();
    for (let round = 0; round < PROBES_PER_HOP; round += 1) {
      for (let ttl = 1; ttl <= this.#lastTtlOf(round); ttl += 1) {
        const atMs = startMs + round * ROUND_MS + (ttl - 1) * STEP_MS;
        if (!(await sleep(clock, atMs - clock.monotonicMs(), this.#over.signal))) return;
        if (ttl <= this.#lastTtlOf(round)) this.#send(sequenceOf(ttl, round), ttl);
      }
    }
  }

  #lastTtlOf(round: number): number {
    const again = this.#lastAnswering + HOPS_PROBED_AGAIN;
    return round === 0 ? this.#lastTtl : Math.min(this.#lastTtl, again);
  }

  #send(sequence: number, ttl: number): void {
    // Before it is sent: this host itself answers at once.
    this.#probes.set(sequence, { sentAtMs: this.#clock.monotonicMs(), end: null });
    this.#socket.send(sequence, ttl, (sent) => this.#noteSent(sequence, sent));
  }

  #noteSent(sequence: number, sent: ProbeSent): void {
    const probe = this.#probes.get(sequence);
    if (sent.ok) {
      if (probe?.end === null) this.#probes.set(sequence, { sentAtMs: sent.atMs, end: null });
      return;
    }
    this.#probes.delete(sequence);
    if (this.#probes.size === 0) this.broken(`the operating system sends nothing: ${sent.reason}`);
    else this.#settle();
  }

  #startWaiting(): void {
    if (this.#mode === 'ended') return;
    this.#mode = 'waiting';
    this.#settle();
  }

  /** Waits for the last of the probes that can still be answered; ends if there are none. */
  #settle(): void {
    if (this.#mode !== 'waiting') return;
    this.#wait();
    const open = [...this.#probes].filter(
      ([sequence, { end }]) => end === null && ttlOf(sequence) <= this.#lastTtl,
    );
    const dueMs = Math.max(...open.map(([, { sentAtMs }]) => sentAtMs)) + this.#fullWaitMs();
    const leftMs = dueMs - this.#clock.monotonicMs();
    if (open.length === 0 || leftMs <= 0) this.#end('complete');
    else this.#wait = this.#clock.after(leftMs, () => this.#end('complete'));
  }

  #fullWaitMs(): number {
    if (this.#lastTtl === MAX_TTL) return PROBE_WAIT_MS;
    const fullWaitMs = WAIT_FACTOR * this.#longestMs;
    return Math.min(PROBE_WAIT_MS, Math.max(MIN_WAIT_MS, fullWaitMs));
  }

  #end(how: Observed['ended']): void {
    if (this.#mode === 'ended') return;
    this.#mode = 'ended';
    this.#ended = how;
    this.#over.abort();
  }

  #untilEnd(): Promise<void> {
    const { signal } = this.#over;
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #hops(): Observed['hops'] {
    const hops = Array.from({ length: this.#lastTtl }, (_, index) => this.#endsOf(index + 1));
    const firstEmpty = hops.findIndex((ends) => ends.length === 0);
    return firstEmpty < 0 ? hops : hops.slice(0, firstEmpty);
  }

  #endsOf(ttl: number): readonly ProbeEnd[] {
    const nowMs = this.#clock.monotonicMs();
    const fullWaitMs = this.#ended === 'complete' ? 0 : this.#fullWaitMs();
    return Array.from({ length: PROBES_PER_HOP }, (_, round) =>
      this.#probes.get(sequenceOf(ttl, round)),
    ).flatMap((probe) => {
      if (probe === undefined) return [];
      const isOpen = probe.end === null && nowMs - probe.sentAtMs < fullWaitMs;
      return isOpen ? [] : [probe.end];
    });
  }
}

function sequenceOf(ttl: number, round: number): number {
  return (ttl - 1) * PROBES_PER_HOP + round;
}

function ttlOf(sequence: number): number {
  return Math.floor(sequence / PROBES_PER_HOP) + 1;
}
