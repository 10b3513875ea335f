import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { MIN_FINAL_STATUS } from '../../../model/result/criterion.ts';
import type { CancelTimer } from '../../../runtime/clock.ts';
import { DeadlineExtension } from '../../net/deadline-extension.ts';
import type { SocketState } from '../../net/kernel/kernel-sockets.ts';
import { socketState } from '../../net/kernel/kernel-sockets.ts';
import { peerActivity } from '../../net/kernel/peer-activity.ts';
import type { StarvationMark } from '../../net/starvation-watch.ts';
import type { ProbeContext } from '../probe.ts';
import { BodyReader, type BodyReaderOptions, type ReadBody } from './body/body-reader.ts';
import { ExchangeTimes, type TimedExchange } from './exchange-times.ts';
import { FloodWatch } from './flood-watch.ts';
import { startHttp1 } from './http1/transport.ts';
import { startHttp2 } from './http2/transport.ts';
import type {
  ExchangeEnd,
  HopRequest,
  ResponseHead,
  Transport,
  TransportEvents,
} from './transport.ts';

/** How to read a response's body; decided when its head has arrived. */
export type BodyPlan =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'read' } & Pick<BodyReaderOptions, 'maxBytes' | 'keepBytes' | 'memory'>);

export interface ExchangeResult extends TimedExchange {
  readonly head: ResponseHead | null;
  /** The part of the body that arrived, even if a failure followed; null without a head. */
  readonly body: ReadBody | null;
  readonly ending: ExchangeEnd | null;
  /** The state of the connection at the end; null if it is not available. */
  readonly connection: SocketState | null;
}

/** Reading pauses while more than this waits for the decoder. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** Overhead of a piece: a body may arrive as hundreds of thousands of single bytes. */
const PIECE_BYTES = 64;
/**
 * A decoder takes 20 to 50 microseconds per write. Up to this many writes, which suffice for 25 MB,
 * follow each read at once; after them, small pieces wait for more data or the end.
 */
const PROMPT_WRITES = 1000;
const MIN_WRITE_BYTES = 16 * 1024;
/** A response with more is HEADERS_TOO_LARGE. */
const MAX_HEADER_BYTES = 64 * 1024;

const NO_BODY: ReadBody = {
  bytes: Buffer.alloc(0),
  totalBytes: 0,
  truncated: false,
  lackedMemory: false,
  decodeError: null,
};

/**
 * Sends a request over a ready connection and reads the response until it is complete or breaks,
 * enough is read, FloodWatch stops it, the deadline passes or the run is cancelled. Always closes
 * the connection.
 *
 * @param wire the connection under TLS, whose bytes are counted
 */
export function runExchange(
  socket: Socket | TLSSocket,
  request: HopRequest,
  context: ProbeContext,
  planOf: (head: ResponseHead) => BodyPlan,
  wire: Socket = socket,
): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    new Exchange(context, planOf, resolve, reject).start(socket, request, wire);
  });
}

/**
 * | state    | meaning                                   | leaves when                            |
 * |----------|-------------------------------------------|----------------------------------------|
 * | head     | waiting for the response's head           | it arrives: body; an end: ended        |
 * | body     | reading                                   | it is complete or breaks: ended        |
 * | ended    | connection closed, decoder still working  | its queue is empty: settled            |
 * | settled  | the promise is resolved                   | never                                  |
 */
type State = 'head' | 'body' | 'ended' | 'settled';

/** The transport does not read, as too much waits for the decoder. */
interface Pause {
  readonly sinceMs: number;
  readonly mark: StarvationMark | undefined;
}

class Exchange {
  readonly #context: ProbeContext;
  readonly #planOf: (head: ResponseHead) => BodyPlan;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #reject: (fault: unknown) => void;
  readonly #onAbort = (): void => this.#end(CANCELLED);
  #state: State = 'head';
  #transport: Transport | null = null;
  #flood: FloodWatch | null = null;
  #cancelTimer: CancelTimer = () => {};
  #head: ResponseHead | null = null;
  #times: ExchangeTimes | null = null;
  #wire: Socket | null = null;
  #connection: SocketState | null = null;
  #ending: ExchangeEnd | null = null;
  #reader: BodyReader | null = null;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #writes = 0;
  #draining: boolean = false;
  #paused: Pause | null = null;

  constructor(
    context: ProbeContext,
    planOf: (head: ResponseHead) => BodyPlan,
    resolve: (result: ExchangeResult) => void,
    reject: (fault: unknown) => void,
  ) {
    this.#context = context;
    this.#planOf = planOf;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(socket: Socket | TLSSocket, request: HopRequest, wire: Socket): void {
    const { clock, deadlineMs, signal } = this.#context;
    if (signal.aborted) {
      socket.destroy();
      this.#end(CANCELLED);
      return;
    }
    this.#wire = wire;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    const extension = new DeadlineExtension({
      clock,
      deadlineMs,
      starvation: this.#context.starvation,
    });
    const onDeadline = (): void => this.#onDeadline(extension, wire, onDeadline);
    this.#cancelTimer = clock.after(deadlineMs - clock.monotonicMs(), onDeadline);
    const flood = new FloodWatch(wire, clock, (ending) => this.#end(ending));
    this.#flood = flood;
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    const events: TransportEvents = {
      firstByte: () => times.firstByte(),
      head: (head) => this.#onHead(head),
      data: (chunk) => {
        flood.body(chunk.length);
        this.#context.onBody?.(chunk.length);
        this.#onData(chunk);
      },
      read: () => {
        flood.read();
        times.read();
      },
      end: (by) => this.#end(null, by === 'read'),
      failed: (ending) => this.#end(ending),
      fault: (thrown) => this.#fault(thrown),
    };
    const times = new ExchangeTimes(this.#context, wire, socket === wire && !isHttp2);
    this.#times = times;
    try {
      this.#transport = isHttp2
        ? startHttp2(socket, request, events, MAX_HEADER_BYTES)
        : startHttp1(socket, request, events, MAX_HEADER_BYTES, this.#context.scrub);
    } catch (fault) {
      socket.destroy();
      this.#fault(fault);
      return;
    }
    times.sent();
    if (this.#state === 'ended' || this.#state === 'settled') this.#transport.destroy();
  }

  /**
   * A late timer fires before data that has arrived is read. One more event-loop iteration handles
   * that first: a real answer or error takes precedence.
   */
  #onDeadline(extension: DeadlineExtension, wire: Socket, again: () => void): void {
    setImmediate(() => {
      if (this.#state !== 'head' && this.#state !== 'body') return;
      const { clock, starvation } = this.#context;
      this.#reportPause();
      const moreMs = extension.nextMs(peerActivity(starvation?.sockets ?? null, wire));
      if (moreMs === null) this.#end(this.#head === null ? RESPONSE_TIMEOUT : BODY_TIMEOUT);
      else this.#cancelTimer = clock.after(moreMs, again);
    });
  }

  #onHead(head: ResponseHead): void {
    if (this.#state !== 'head') return;
    // The transports drop interim responses.
    if (head.status < MIN_FINAL_STATUS) {
      this.#end(NO_STATUS);
      return;
    }
    this.#state = 'body';
    this.#head = head;
    this.#times?.head();
    let plan: BodyPlan;
    try {
      plan = this.#planOf(head);
    } catch (fault) {
      this.#fault(fault);
      return;
    }
    if (plan.kind === 'none') this.#end(null, true);
    else {
      const coding = head.headers['content-encoding'];
      const contentEncoding = typeof coding === 'string' ? coding : null;
      const { maxBytes, keepBytes, memory } = plan;
      const { scrub } = this.#context;
      this.#reader = new BodyReader({ contentEncoding, maxBytes, keepBytes, memory, scrub });
    }
  }

  #onData(chunk: Buffer): void {
    if (this.#state !== 'body' || this.#reader === null) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length + PIECE_BYTES;
    if (this.#queuedBytes > MAX_QUEUED_BYTES && this.#paused === null) {
      const { clock, starvation } = this.#context;
      this.#paused = { sinceMs: clock.monotonicMs(), mark: starvation?.mark() };
      this.#times?.paused();
      this.#transport?.pause();
    }
    if (!this.#draining && this.#canWrite) this.#startDraining(this.#reader);
  }

  get #canWrite(): boolean {
    const isPrompt = this.#writes < PROMPT_WRITES || this.#state !== 'body';
    return this.#queue.length > 0 && (isPrompt || this.#queuedBytes >= MIN_WRITE_BYTES);
  }

  #startDraining(reader: BodyReader): void {
    this.#drainQueue(reader).catch((fault) => this.#fault(fault));
  }

  async #drainQueue(reader: BodyReader): Promise<void> {
    this.#draining = true;
    while (this.#canWrite) {
      this.#writes += 1;
      // All at once: a decoder needs as much time for one byte as for thousands.
      const pieces = this.#queue;
      this.#queue = [];
      const [first] = pieces;
      const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
      const wants = await reader.write(bytes);
      this.#queuedBytes -= bytes.length + pieces.length * PIECE_BYTES;
      if (wants === 'enough') {
        this.#queue = [];
        this.#draining = false;
        this.#end(null);
        return;
      }
      if (this.#paused !== null && this.#queuedBytes <= MAX_QUEUED_BYTES / 2) {
        this.#reportPause();
        this.#paused = null;
        this.#transport?.resume();
      }
    }
    this.#draining = false;
    if (this.#state === 'ended') this.#settle();
  }

  /** The target waits for us while we decode what it sent. */
  #reportPause(): void {
    const { clock, starvation } = this.#context;
    const since = this.#paused?.mark;
    if (starvation === undefined || this.#paused === null || since === undefined) return;
    const until = starvation.mark();
    const nowMs = clock.monotonicMs();
    starvation.pausedReading({ since, until, durationMs: nowMs - this.#paused.sinceMs });
    this.#paused = { sinceMs: nowMs, mark: until };
  }

  /** @param byRead the last read completed the response */
  #end(ending: ExchangeEnd | null, byRead = false): void {
    if (this.#state === 'head' || this.#state === 'body') {
      this.#state = 'ended';
      this.#reportPause();
      this.#paused = null;
      this.#ending = ending;
      const sockets = this.#context.starvation?.sockets ?? null;
      this.#connection = this.#wire === null ? null : socketState(sockets, this.#wire);
      this.#times?.end(byRead, this.#connection);
      this.#cancelTimer();
      this.#flood?.stop();
      this.#context.signal.removeEventListener('abort', this.#onAbort);
      this.#transport?.destroy();
    }
    if (this.#state !== 'ended' || this.#draining) return;
    if (this.#reader !== null && this.#canWrite) this.#startDraining(this.#reader);
    else this.#settle();
  }

  #settle(): void {
    this.#state = 'settled';
    const times = this.#times?.result ?? notSent(this.#context.clock.monotonicMs());
    const resolve = (body: ReadBody | null): void =>
      this.#resolve({
        head: this.#head,
        body,
        ending: this.#ending,
        ...times,
        // Without a complete head, all the time was waiting for the first byte.
        firstByteMs: this.#head === null ? null : times.firstByteMs,
        connection: this.#connection,
      });
    if (this.#head === null || this.#reader === null) resolve(this.#head === null ? null : NO_BODY);
    else this.#reader.end().then(resolve, this.#reject);
  }

  /** Our own code threw: the failure must not look like the target's. */
  #fault(fault: unknown): void {
    this.#reject(fault);
    this.#reader?.destroy();
    this.#end(null);
  }
}

function notSent(nowMs: number): TimedExchange {
  const none = { firstByteMs: null, unseenMs: 0, isTimedByKernel: false, peerMs: 0 };
  return { ...none, sentMs: nowMs, endMs: nowMs };
}

const CANCELLED: ExchangeEnd = {
  code: 'CANCELLED',
  what: 'it was cancelled because the agent stops',
};
const NO_STATUS: ExchangeEnd = {
  code: 'PROTOCOL_ERROR',
  what: 'the response has a status below 200, which no final response may have',
};
const RESPONSE_TIMEOUT: ExchangeEnd = {
  code: 'RESPONSE_TIMEOUT',
  what: 'no complete response headers came in time',
};
const BODY_TIMEOUT: ExchangeEnd = {
  code: 'BODY_TIMEOUT',
  what: 'the response body was not complete in time',
};
