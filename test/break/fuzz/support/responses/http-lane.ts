import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { Identity } from '../../../../support/servers/certificates.ts';
import { segmentsOf } from './bytes.ts';

/** What a server sends to one probe, again on each connection. */
export interface HttpCase {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly bytes: Buffer;
  readonly segments: readonly number[];
  /** Whether it waits for the request before it answers. */
  readonly start: 'asked' | 'at once';
  readonly ending: 'close' | 'reset' | 'silence';
}

/** Answers each connection with the bytes of the current case, without reading requests. */
export class HttpLane {
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();
  #case: HttpCase | null = null;
  #port = 0;

  /** @param identity for HTTP/2 over TLS; null for plain TCP */
  constructor(identity: Identity | null) {
    const serve = (socket: net.Socket): void => this.#serve(socket);
    this.#server =
      identity === null
        ? net.createServer({ noDelay: true }, serve)
        : tls.createServer({ ...identity, ALPNProtocols: ['h2', 'http/1.1'] }, serve);
    this.#server.on('tlsClientError', () => {});
  }

  get port(): number {
    return this.#port;
  }

  async start(host: string): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as net.AddressInfo).port;
  }

  serve(httpCase: HttpCase): void {
    this.#case = httpCase;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: net.Socket): void {
    const current = this.#case;
    this.#open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
    if (current === null) {
      socket.destroy();
      return;
    }
    if (current.start === 'asked') socket.once('data', () => void this.#send(socket, current));
    else void this.#send(socket, current);
    socket.resume();
  }

  async #send(socket: net.Socket, { bytes, segments, ending }: HttpCase): Promise<void> {
    for (const segment of segmentsOf(bytes, segments)) {
      if (socket.destroyed) return;
      socket.write(segment);
      if (segments.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'close') socket.end();
    if (ending !== 'reset') return;
    // A reset is impossible inside TLS; an end without close_notify comes close.
    if (socket instanceof tls.TLSSocket) socket.destroy();
    else socket.resetAndDestroy();
  }
}

/** Runs the work with this many lanes. */
export async function withHttpLanes(
  count: number,
  host: string,
  identity: Identity | null,
  work: (lanes: readonly HttpLane[]) => Promise<void>,
): Promise<void> {
  const lanes = Array.from({ length: count }, () => new HttpLane(identity));
  await Promise.all(lanes.map((lane) => lane.start(host)));
  try {
    await work(lanes);
  } finally {
    await Promise.all(lanes.map((lane) => lane.close()));
  }
}
