import { setMaxListeners } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { systemCodeOf } from '../../runtime/errors.ts';
import { endpointText, withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import {
  type ChosenProxy,
  chooseProxy,
  type Proxies,
} from '../../runtime/net/proxy/choose-proxy.ts';
import { abortable, type ConnectLimits } from './connect-limits.ts';
import { checkedAddresses, DENIED_CODE, guardedLookup, refuseDenied } from './guarded-lookup.ts';
import { connectThroughProxy, connectToProxy, ProxyError } from './proxy-connection.ts';
import type { ReachableAddresses } from './reachable-addresses.ts';

export interface DispatcherOptions extends Omit<Agent.Options, 'connect'> {
  readonly proxies: Proxies;
  /** null: all addresses, for URLs in the service's own configuration. */
  readonly reachable: ReachableAddresses | null;
  /** For each step: see ConnectLimits. */
  readonly connectTimeoutMs: number;
}

/**
 * Sends requests of undici directly, or through the proxies, and connects only to addresses that may
 * be reached. Through a proxy, the service resolves and checks a name and sends the checked address to
 * CONNECT, also for http: otherwise the proxy could find another address for it. It sends the name
 * where any address may be reached. The proxy's own address is the operator's, and not checked.
 *
 * @returns a dispatcher whose `destroy` also ends connections in progress
 */
export function outgoingDispatcher({
  proxies,
  reachable,
  connectTimeoutMs: timeoutMs,
  ...options
}: DispatcherOptions): Dispatcher {
  const lookup = reachable === null ? {} : { lookup: guardedLookup(reachable) };
  const ended = new AbortController();
  const { signal } = ended;
  // One listener for each connection in progress.
  setMaxListeners(0, signal);
  const limits: ConnectLimits = { timeoutMs, signal };
  const direct = abortable(buildConnector({ timeout: timeoutMs, ...lookup }), signal);
  const secure = abortable(buildConnector({ timeout: timeoutMs }), signal);

  /** Whether the proxy gets the host unchanged from the URL. */
  const needsNoLookup = (hostname: string): boolean =>
    reachable === null || isIP(hostname) !== 0 || reachable.allowsName(hostname);

  /** @throws ProxyError, an Error with the code DENIED_CODE, or that of the look-up */
  async function reach(proxy: ChosenProxy, url: URL): Promise<Socket> {
    const hostname = withoutBrackets(url.hostname);
    const isTls = url.protocol === 'https:';
    const asIs = needsNoLookup(hostname);
    if (asIs && !isTls) return await connectToProxy(proxy, limits);
    const hosts =
      asIs || reachable === null
        ? [hostname]
        : await addressesOf(hostname, reachable, proxy, limits);
    const port = url.port === '' ? defaultPortOf(url.protocol) : Number(url.port);
    return await connectThroughProxy(proxy, { hosts, port }, limits);
  }

  const connect: buildConnector.connector = (target, callback) => {
    const url = urlOf(target);
    try {
      if (reachable !== null) refuseDenied(url.hostname, reachable);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    const proxy = chooseProxy(proxies, url);
    if (proxy === null) {
      direct(target, callback);
      return;
    }
    reach(proxy, url).then(
      (socket) => {
        if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };

  const agent = endingWith(new Agent({ ...options, connect }), ended);
  return agent.compose((dispatch) => (request, handler) => {
    // Without the path: a URL parser takes a host from a path that begins with //.
    const url = new URL(request.origin ?? '');
    const proxy = url.protocol === 'http:' ? chooseProxy(proxies, url) : null;
    if (proxy === null || !needsNoLookup(withoutBrackets(url.hostname))) {
      return dispatch(request, handler);
    }
    // RFC 9112 3.2.2. Most proxies refuse a tunnel to any port but 443.
    const path = `${url.origin}${request.path}`;
    // Set even without credentials: users of the service must not be able to send their own to the proxy.
    const own = { 'proxy-authorization': proxy.authorization ?? undefined };
    return dispatch({ ...request, path, headers: { ...headersOf(request), ...own } }, handler);
  });
}

/** Makes `destroy` of the agent also abort connections in progress, which it would leave to their timeouts. */
function endingWith(agent: Agent, ended: AbortController): Agent {
  const destroy = agent.destroy.bind(agent) as (...args: unknown[]) => Promise<void>;
  return Object.assign(agent, {
    destroy(...args: unknown[]) {
      // Called first, so that requests fail with the error of the agent.
      const destroyed = destroy(...args);
      ended.abort();
      return destroyed;
    },
  });
}

/** Resolves the host. Behind a proxy, the service may have no name server that knows it. */
async function addressesOf(
  hostname: string,
  reachable: ReachableAddresses,
  { variable }: ChosenProxy,
  limits: ConnectLimits,
): Promise<readonly string[]> {
  try {
    return await checkedAddresses(hostname, reachable, limits);
  } catch (error) {
    if (limits.signal.aborted) throw error;
    const code = systemCodeOf(error) ?? 'no code';
    if (code === DENIED_CODE) throw error;
    throw new ProxyError(
      `the service could not look up ${hostname} (${code}); the proxy of ${variable} looks up only names of DELIVERY_ALLOW`,
      { isOfReceiver: code === 'ENOTFOUND' },
    );
  }
}

const defaultPortOf = (protocol: string): number => (protocol === 'https:' ? 443 : 80);

function urlOf({ protocol, hostname, port }: buildConnector.Options): URL {
  const number = port === '' ? defaultPortOf(protocol) : Number(port);
  return new URL(`${protocol}//${endpointText(withoutBrackets(hostname), number)}`);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the headers as an object; undici also accepts a flat list of names and values. */
function headersOf({ headers }: Dispatcher.DispatchOptions): Headers {
  if (headers === undefined || headers === null) return {};
  if (Symbol.iterator in headers) throw new TypeError('headers of a request are an object');
  return headers;
}
