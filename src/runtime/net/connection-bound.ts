import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The state of a connection that was closed to make room for a new one: without a request (`idle`) or
 * with one in progress (`busy`); or `pipelining`: beyond MAX_UNANSWERED.
 */
export type ClosedState = 'idle' | 'busy' | 'pipelining';

export const CLOSED_STATES: readonly ClosedState[] = ['idle', 'busy', 'pipelining'];

/**
 * Unanswered requests of one connection, with the one in progress. Proxies and most clients send one
 * at a time (RFC 9112 9.3.2: a client that pipelines must be prepared for a closed connection).
 */
export const MAX_UNANSWERED = 8;

export interface ConnectionBoundOptions {
  /** The most open connections, 1 or more. */
  readonly max: number;
  /** The most open connections from one address. */
  readonly maxPerAddress: number;
  /** The key by which the connections of a peer are counted; null for a peer without its own limit. */
  readonly addressOf: (socket: Socket) => string | null;
  /**
   * If every connection has a request in progress: whether the oldest is closed for a new one (true) or
   * the new one is refused (false).
   */
  readonly closesBusy: boolean;
  readonly onClosed: (state: ClosedState, socket: Socket) => void;
}

/** Both in the order in which connections became idle or busy. */
class Pool {
  readonly idle = new Set<Socket>();
  readonly busy = new Set<Socket>();

  get size(): number {
    return this.idle.size + this.busy.size;
  }
}

interface Entry {
  readonly address: string | null;
  readonly pools: readonly Pool[];
  /** The number of requests in progress; more than 1 if the client does not wait for answers. */
  requests: number;
}

/**
 * Limits the connections of an HTTP server. A new connection closes the one that has been without a
 * request for the longest time: a client that opens many and sends nothing, or half a request, loses
 * only its own connections.
 */
export class ConnectionBound {
  readonly #options: ConnectionBoundOptions;
  readonly #entries = new Map<Socket, Entry>();
  readonly #all = new Pool();
  readonly #byAddress = new Map<string, Pool>();

  constructor(options: ConnectionBoundOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(socket: Socket): boolean {
    return this.#entries.has(socket);
  }

  /**
   * Takes a new connection, and makes room for it.
   *
   * @returns false if there is no room
   */
  take(socket: Socket): boolean {
    const { max, maxPerAddress, addressOf } = this.#options;
    const address = addressOf(socket);
    const own = address === null ? undefined : this.#byAddress.get(address);
    if (own !== undefined && own.size >= maxPerAddress && !this.#makeRoom(own)) return false;
    if (this.#all.size >= max && !this.#makeRoom(this.#all)) return false;
    const entry = { address, pools: this.#poolsOf(address), requests: 0 };
    this.#entries.set(socket, entry);
    for (const { idle } of entry.pools) idle.add(socket);
    socket.once('close', () => this.#remove(socket));
    return true;
  }

  /** A request of the connection begins. */
  begin(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    entry.requests += 1;
    if (entry.requests > 1) return;
    for (const { idle, busy } of entry.pools) {
      idle.delete(socket);
      busy.add(socket);
    }
  }

  /** A request of the connection is answered or aborted. */
  end(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    entry.requests -= 1;
    if (entry.requests > 0) return;
    for (const { idle, busy } of entry.pools) {
      busy.delete(socket);
      idle.add(socket);
    }
  }

  /** Closes one of its connections, and counts it. */
  close(socket: Socket, state: ClosedState): void {
    // Not counted from now on: the socket emits `close` only later.
    this.#remove(socket);
    socket.destroy();
    this.#options.onClosed(state, socket);
  }

  #makeRoom({ idle, busy }: Pool): boolean {
    const [oldestIdle] = idle;
    const [oldestBusy] = this.#options.closesBusy ? busy : [];
    const socket = oldestIdle ?? oldestBusy;
    if (socket === undefined) return false;
    this.close(socket, oldestIdle === undefined ? 'busy' : 'idle');
    return true;
  }

  #poolsOf(address: string | null): readonly Pool[] {
    if (address === null) return [this.#all];
    const own = this.#byAddress.get(address) ?? new Pool();
    this.#byAddress.set(address, own);
    return [this.#all, own];
  }

  #remove(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    this.#entries.delete(socket);
    for (const { idle, busy } of entry.pools) {
      idle.delete(socket);
      busy.delete(socket);
    }
    const { address } = entry;
    if (address !== null && this.#byAddress.get(address)?.size === 0) {
      this.#byAddress.delete(address);
    }
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Applies the bounds to a server: the first bound with room takes a new connection, which is closed
 * if no bound has room. The handler gets one request of a connection at a time, and the next one when the
 * last answer was written to the kernel: a client that does not read occupies the memory of one answer.
 * To be called when the server has its handler and before it listens.
 */
export function boundConnections(server: Server, bounds: readonly ConnectionBound[]): void {
  server.on('connection', (socket: Socket) => {
    if (!bounds.some((bound) => bound.take(socket))) socket.destroy();
  });
  // Replaces the handler: Node parses all requests of a chunk, 64 KiB, at once, also those after the one
  // that closed the connection.
  const handlers = server.listeners('request') as Handler[];
  server.removeAllListeners('request');
  const handle: Handler = (request, response) => {
    for (const handler of handlers) handler.call(server, request, response);
  };
  const unanswered = new WeakMap<Socket, (() => void)[]>();
  const inOrder = (handler: Handler, ...[request, response]: Parameters<Handler>): void => {
    const { socket } = request;
    const bound = bounds.find((each) => each.has(socket));
    // Closed, but the rest of its chunk is still being parsed.
    if (bound === undefined) return;
    const answers = unanswered.get(socket) ?? [];
    unanswered.set(socket, answers);
    if (answers.length >= MAX_UNANSWERED) {
      bound.close(socket, 'pipelining');
      return;
    }
    const answer = (): void => handler(request, response);
    answers.push(answer);
    bound.begin(socket);
    response.once('close', () => {
      bound.end(socket);
      answers.shift();
      const [next] = answers;
      // The last answer may have ended the connection.
      if (socket.writable) next?.();
    });
    if (answers.length === 1) answer();
  };
  server.on('request', (request, response) => inOrder(handle, request, response));
  // Without a listener Node answers these itself, outside of the bounds.
  server.on('checkExpectation', (request, response) => inOrder(refuse, request, response));
}

/** An expectation other than 100-continue (RFC 9110 10.1.1). */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(417).end();
}
