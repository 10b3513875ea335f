import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * What a connection was when it was closed: without a request (`idle`) or with one in progress (`busy`)
 * as it made way for a new one, or past MAX_UNANSWERED (`pipelining`).
 */
export type ClosedState = 'idle' | 'busy' | 'pipelining';

export const CLOSED_STATES: readonly ClosedState[] = ['idle', 'busy', 'pipelining'];

/**
 * Requests of one connection whose answers it has not been sent, with the one in progress. Proxies and
 * most clients send one at a time (RFC 9112 9.3.2: whoever pipelines must be ready to be closed).
 */
export const MAX_UNANSWERED = 8;

export interface ConnectionBoundOptions {
  /** Open at once, 1 or more. */
  readonly max: number;
  /** Of these, from one address. */
  readonly maxPerAddress: number;
  /** By what the connections of a peer are counted; null for one without a bound of its own. */
  readonly addressOf: (socket: Socket) => string | null;
  /**
   * Where every connection has a request in progress: whether the oldest of them makes way for a new
   * one, or the new one is not taken.
   */
  readonly closesBusy: boolean;
  readonly onClosed: (state: ClosedState, socket: Socket) => void;
}

/** Each in the order in which its connections last became idle or busy. */
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
  /** In progress: several where the client sends without waiting for answers. */
  requests: number;
}

/**
 * Bounds the connections of an HTTP server. A new connection closes the one that has been without a
 * request for longest, so whoever opens many and sends nothing, or half a request, only loses their
 * own, and others get in.
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
   * @returns false where there is no room: the connection is as it was
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

  /** A request of the connection is answered, or given up. */
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
    // It is gone from the count at once: the socket tells of its end only later.
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
 * Holds a server's connections to the bounds: each connection is taken by the first bound that has
 * room for it, and closed where none has. The handler gets one request of a connection at a time, and
 * the next one when the answer before has gone to the kernel: a client that does not read holds the
 * memory of one answer, however many requests it sends. To be called when the server has its handler,
 * and before it listens.
 */
export function boundConnections(server: Server, bounds: readonly ConnectionBound[]): void {
  server.on('connection', (socket: Socket) => {
    if (!bounds.some((bound) => bound.take(socket))) socket.destroy();
  });
  // In place of the handler: Node parses all requests of a chunk, 64 KiB, in one go, also those after
  // the one that closed the connection.
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
      // Nobody gets the answer where the one before was the connection's last.
      if (socket.writable) next?.();
    });
    if (answers.length === 1) answer();
  };
  server.on('request', (request, response) => inOrder(handle, request, response));
  // Node answers these itself where nobody listens, past every bound.
  server.on('checkExpectation', (request, response) => inOrder(refuse, request, response));
}

/** An expectation other than 100-continue (RFC 9110 10.1.1). */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(417).end();
}
