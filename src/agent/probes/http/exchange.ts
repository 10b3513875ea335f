import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CancelTimer } from '../../../runtime/clock.ts';
import type { SocketState } from '../../net/kernel/kernel-sockets.ts';
import { stateOf } from '../../net/kernel/kernel-sockets.ts';
import { MIN_PEER_MS, peerTookMs, silenceOn } from '../../net/kernel/silence.ts';
import { EXACT_MS, Overtime } from '../../net/overtime.ts';
import type { ProbeContext } from '../probe.ts';
import { BodyReader, type BodyReaderOptions, type ReadBody } from './body/body-reader.ts';
import { FloodWatch } from './flood-watch.ts';
import { startHttp1 } from './http1/transport.ts';
import { startHttp2 } from './http2/transport.ts';
import type { Ending, HopRequest, ResponseHead, Transport, TransportEvents } from './transport.ts';

/** What is to be done with a response's body, decided when its head is there. */
export type BodyPlan =
  /** The body is not read. */
  | { readonly kind: 'none' }
  | ({ readonly kind: 'read' } & Pick<BodyReaderOptions, 'maxBytes' | 'keepBytes' | 'room'>);

export interface ExchangeResult {
  readonly head: ResponseHead | null;
  /** What arrived of it, also where a failure followed; null without a head. */
  readonly body: ReadBody | null;
  readonly ending: Ending | null;
  /** Monotonic instants, milliseconds: the request began to be sent; first byte; last byte. */
  readonly sentMs: number;
  readonly firstByteMs: number | null;
  readonly endMs: number;
  /** What of that was the peer's time for certain, by the kernel; 0 where nothing made us doubt. */
  readonly peerMs: number;
  /** What the kernel says of the connection at the end; null where it is gone, or cannot be asked. */
  readonly connection: SocketState | null;
}

/** The agent holds at most this much of a body that its decoder has not worked off yet. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** What a piece costs beside its bytes: a body may come as hundreds of thousands of one octet. */
const PIECE_BYTES = 64;
/**
 * A decoder costs 20 to 50 microseconds for each write. So many writes are made as soon as something
 * came, which 25 MB of body need; then small pieces wait for others, or for the end.
 */
const PROMPT_WRITES = 1000;
const MIN_WRITE_BYTES = 16 * 1024;
/** Over this a response is HEADERS_TOO_LARGE. */
const MAX_HEADER_BYTES = 64 * 1024;
/** RFC 9110 15: lower ones are interim, which the transports drop, or no status codes at all. */
const MIN_FINAL_STATUS = 200;

const NO_BODY: ReadBody = {
  bytes: Buffer.alloc(0),
  totalBytes: 0,
  truncated: false,
  lackedRoom: false,
  decodeError: null,
};

/**
 * Sends a request over a connection that is ready and reads its response, until it is whole, it
 * breaks, enough was read, it floods us (FloodWatch), the deadline passes or the run is cancelled.
 * The connection is closed in every case.
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
 * | state    | meaning                                      | leaves when                            |
 * |----------|----------------------------------------------|----------------------------------------|
 * | head     | waiting for the response's head              | it is there: body; an end: ended       |
 * | body     | reading                                      | it is whole or breaks off: ended       |
 * | ended    | connection closed, decoder still at work     | its queue is empty: settled            |
 * | settled  | the result is given                          | never                                  |
 */
type State = 'head' | 'body' | 'ended' | 'settled';

class Exchange {
  readonly #context: ProbeContext;
  readonly #planOf: (head: ResponseHead) => BodyPlan;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #reject: (fault: unknown) => void;
  readonly #sentMs: number;
  readonly #onAbort = (): void => this.#end(CANCELLED);
  #state: State = 'head';
  #transport: Transport | null = null;
  #flood: FloodWatch | null = null;
  #cancelTimer: CancelTimer = () => {};
  #head: ResponseHead | null = null;
  #firstByteMs: number | null = null;
  #endMs = 0;
  #peerMs = 0;
  #wire: Socket | null = null;
  #connection: SocketState | null = null;
  #ending: Ending | null = null;
  #reader: BodyReader | null = null;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #writes = 0;
  #working: boolean = false;
  #paused: boolean = false;

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
    this.#sentMs = context.clock.monotonicMs();
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
    const overtime = new Overtime({ clock, deadlineMs, starvation: this.#context.starvation });
    const onDeadline = (): void => this.#onDeadline(overtime, wire, onDeadline);
    this.#cancelTimer = clock.after(deadlineMs - this.#sentMs, onDeadline);
    const flood = new FloodWatch(wire, clock, (ending) => this.#end(ending));
    this.#flood = flood;
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    const events: TransportEvents = {
      firstByte: () => {
        this.#firstByteMs = clock.monotonicMs();
        this.#notePeerTime(wire);
      },
      head: (head) => this.#onHead(head),
      data: (chunk) => {
        flood.body(chunk.length);
        this.#context.onBody?.(chunk.length);
        this.#onData(chunk);
      },
      read: () => flood.read(),
      end: () => this.#end(null),
      failed: (ending) => this.#end(ending),
      fault: (thrown) => this.#fault(thrown),
    };
    try {
      this.#transport = isHttp2
        ? startHttp2(socket, request, events, MAX_HEADER_BYTES)
        : startHttp1(socket, request, events, MAX_HEADER_BYTES, this.#context.scrub);
    } catch (fault) {
      socket.destroy();
      this.#fault(fault);
      return;
    }
    if (this.#state === 'ended' || this.#state === 'settled') this.#transport.destroy();
  }

  /**
   * A timer that is late fires before what the network brought meanwhile is read. One more
   * event-loop iteration handles that first: a real answer or error takes precedence.
   */
  #onDeadline(overtime: Overtime, wire: Socket, again: () => void): void {
    setImmediate(() => {
      if (this.#state !== 'head' && this.#state !== 'body') return;
      const { clock, starvation } = this.#context;
      const moreMs = overtime.nextMs(silenceOn(starvation?.sockets ?? null, wire));
      if (moreMs === null) this.#end(this.#head === null ? RESPONSE_TIMEOUT : BODY_TIMEOUT);
      else this.#cancelTimer = clock.after(moreMs, again);
    });
  }

  /** Of quick answers the kernel knows no more than we do, and of calm attempts. */
  #notePeerTime(wire: Socket): void {
    const { starvation, clock } = this.#context;
    if (starvation === undefined || clock.monotonicMs() - this.#sentMs < MIN_PEER_MS) return;
    if (starvation.starvedMs >= EXACT_MS) this.#peerMs = peerTookMs(starvation.sockets, wire);
  }

  #onHead(head: ResponseHead): void {
    if (this.#state !== 'head') return;
    if (head.status < MIN_FINAL_STATUS) {
      this.#end(NO_STATUS);
      return;
    }
    this.#state = 'body';
    this.#head = head;
    this.#firstByteMs ??= this.#context.clock.monotonicMs();
    let plan: BodyPlan;
    try {
      plan = this.#planOf(head);
    } catch (fault) {
      this.#fault(fault);
      return;
    }
    if (plan.kind === 'none') this.#end(null);
    else {
      const coding = head.headers['content-encoding'];
      const contentEncoding = typeof coding === 'string' ? coding : null;
      const { maxBytes, keepBytes, room } = plan;
      const { scrub } = this.#context;
      this.#reader = new BodyReader({ contentEncoding, maxBytes, keepBytes, room, scrub });
    }
  }

  #onData(chunk: Buffer): void {
    if (this.#state !== 'body' || this.#reader === null) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length + PIECE_BYTES;
    if (this.#queuedBytes > MAX_QUEUED_BYTES && !this.#paused) {
      this.#paused = true;
      this.#transport?.pause();
    }
    if (!this.#working && this.#isWorthAWrite) this.#startWork(this.#reader);
  }

  get #isWorthAWrite(): boolean {
    const isPrompt = this.#writes < PROMPT_WRITES || this.#state !== 'body';
    return this.#queue.length > 0 && (isPrompt || this.#queuedBytes >= MIN_WRITE_BYTES);
  }

  #startWork(reader: BodyReader): void {
    this.#workOff(reader).catch((fault) => this.#fault(fault));
  }

  async #workOff(reader: BodyReader): Promise<void> {
    this.#working = true;
    while (this.#isWorthAWrite) {
      this.#writes += 1;
      // All at once: a decoder costs as much for one octet as for thousands.
      const pieces = this.#queue;
      this.#queue = [];
      const [first] = pieces;
      const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
      const wants = await reader.write(bytes);
      this.#queuedBytes -= bytes.length + pieces.length * PIECE_BYTES;
      if (wants === 'enough') {
        this.#queue = [];
        this.#working = false;
        this.#end(null);
        return;
      }
      if (this.#paused && this.#queuedBytes <= MAX_QUEUED_BYTES / 2) {
        this.#paused = false;
        this.#transport?.resume();
      }
    }
    this.#working = false;
    if (this.#state === 'ended') this.#settle();
  }

  #end(ending: Ending | null): void {
    if (this.#state === 'head' || this.#state === 'body') {
      this.#state = 'ended';
      this.#endMs = this.#context.clock.monotonicMs();
      this.#ending = ending;
      const sockets = this.#context.starvation?.sockets ?? null;
      this.#connection = this.#wire === null ? null : stateOf(sockets, this.#wire);
      this.#cancelTimer();
      this.#flood?.stop();
      this.#context.signal.removeEventListener('abort', this.#onAbort);
      this.#transport?.destroy();
    }
    if (this.#state !== 'ended' || this.#working) return;
    if (this.#reader !== null && this.#isWorthAWrite) this.#startWork(this.#reader);
    else this.#settle();
  }

  #settle(): void {
    this.#state = 'settled';
    const give = (body: ReadBody | null): void =>
      this.#resolve({
        head: this.#head,
        body,
        ending: this.#ending,
        sentMs: this.#sentMs,
        // A response without a complete head was waited for to the end.
        firstByteMs: this.#head === null ? null : this.#firstByteMs,
        endMs: this.#endMs,
        peerMs: this.#peerMs,
        connection: this.#connection,
      });
    if (this.#head === null || this.#reader === null) give(this.#head === null ? null : NO_BODY);
    else this.#reader.end().then(give, this.#reject);
  }

  /** Our own code threw: the failure must not look like the target's. */
  #fault(fault: unknown): void {
    this.#reject(fault);
    this.#reader?.destroy();
    this.#end(null);
  }
}

const CANCELLED: Ending = { code: 'CANCELLED', what: 'it was cancelled because the agent stops' };
const NO_STATUS: Ending = {
  code: 'PROTOCOL_ERROR',
  what: 'the response has a status below 200, which no final response may have',
};
const RESPONSE_TIMEOUT: Ending = {
  code: 'RESPONSE_TIMEOUT',
  what: 'no complete response headers came in time',
};
const BODY_TIMEOUT: Ending = {
  code: 'BODY_TIMEOUT',
  what: 'the response body was not complete in time',
};
