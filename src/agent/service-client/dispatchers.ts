import { setMaxListeners } from 'node:events';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import {
  type ChosenProxy,
  chooseProxy,
  type Proxies,
} from '../../runtime/net/proxy/choose-proxy.ts';
import { proxyConnector } from './proxy-connector.ts';

export interface DispatchersOptions {
  readonly proxies: Proxies;
  readonly clock: Clock;
  /** Maximum number of connections to one origin; null for no limit. */
  readonly connections: number | null;
  /** Milliseconds to establish one connection. */
  readonly connectTimeoutMs: number;
}

/** The route of a request to a URL. */
export interface Route {
  readonly dispatcher: Dispatcher;
  /** The path in the request line. */
  readonly path: string;
  /** Headers in addition to the request's own. */
  readonly headers: Readonly<Record<string, string>>;
  /** null for a direct connection. */
  readonly proxy: RouteProxy | null;
}

export interface RouteProxy extends ChosenProxy {
  /** The proxy forwards single requests, so it may answer instead of the peer. */
  readonly forwards: boolean;
}

/**
 * Connection pools to services, direct and through proxies. They have no time limit for answers:
 * each request has its own.
 */
export class Dispatchers {
  readonly #options: DispatchersOptions;
  readonly #ended = new AbortController();
  /** Pools for direct connections, and for the proxy of each variable. */
  readonly #agents = new Map<ChosenProxy['variable'] | 'direct', Agent>();

  constructor(options: DispatchersOptions) {
    this.#options = options;
    // One listener for each connection in progress, whose number is bounded.
    setMaxListeners(0, this.#ended.signal);
  }

  get isDestroyed(): boolean {
    return this.#ended.signal.aborted;
  }

  /** The route to an http or https URL. */
  routeTo(url: URL): Route {
    const chosen = chooseProxy(this.#options.proxies, url);
    const dispatcher = this.#agentFor(chosen);
    const path = `${url.pathname}${url.search}`;
    if (chosen === null) return { dispatcher, path, headers: {}, proxy: null };
    const forwards = url.protocol === 'http:';
    const proxy = { ...chosen, forwards };
    if (!forwards) return { dispatcher, path, headers: {}, proxy };
    const { authorization } = chosen;
    const headers: Route['headers'] =
      authorization === null ? {} : { 'proxy-authorization': authorization };
    // RFC 9112 3.2.2. Most proxies refuse a tunnel to any port but 443.
    return { dispatcher, path: `${url.origin}${path}`, headers, proxy };
  }

  /** Ends all connections and requests. */
  async destroy(): Promise<void> {
    this.#ended.abort();
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  #agentFor(proxy: ChosenProxy | null): Agent {
    const way = proxy?.variable ?? 'direct';
    const known = this.#agents.get(way);
    if (known !== undefined) return known;
    const { clock, connections, connectTimeoutMs: timeoutMs } = this.#options;
    const { signal } = this.#ended;
    const agent = new Agent({
      ...(connections === null ? {} : { connections }),
      connect:
        proxy === null
          ? { timeout: timeoutMs }
          : proxyConnector({ proxy, clock, timeoutMs, signal }),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#agents.set(way, agent);
    // Late requests end like those in progress.
    if (this.isDestroyed) void agent.destroy();
    return agent;
  }
}
