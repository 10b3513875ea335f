import { setMaxListeners } from 'node:events';
import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { endpointText } from '../../../runtime/net/endpoint-text.ts';
import {
  type ChosenProxy,
  chooseProxy,
  type Proxies,
} from '../../../runtime/net/proxy/choose-proxy.ts';
import { connectThroughProxy } from '../../outgoing/proxy-connection.ts';

type OnCreated = (error: Error | null, stream: Duplex) => void;

/** The same options as those of the SDK's default agents. */
const OPTIONS = { keepAlive: true, maxSockets: 50 };

/**
 * Creates agents for Node's HTTP client that reach the bucket through the proxies; none without proxies. The
 * `destroy` of either agent ends the connections in progress of both.
 */
export function tunnelAgents(
  proxies: Proxies,
  timeoutMs: number,
): { readonly httpAgent?: HttpAgent; readonly httpsAgent?: HttpsAgent } {
  if (proxies.http === null && proxies.https === null) return {};

  const open = ({ host, port }: ClientRequestArgs, scheme: 'http' | 'https') => {
    const hostname = host ?? '';
    const number = Number(port ?? (scheme === 'http' ? 80 : 443));
    const url = new URL(`${scheme}://${endpointText(hostname, number)}`);
    const proxy = chooseProxy(proxies, url);
    return proxy === null ? null : { proxy, hosts: [hostname], port: number };
  };
  const ended = new AbortController();
  // One listener for each connection in progress.
  setMaxListeners(0, ended.signal);
  const limits = { timeoutMs, signal: ended.signal };
  const tunnel = (way: { proxy: ChosenProxy; hosts: readonly string[]; port: number }) =>
    connectThroughProxy(way.proxy, way, limits);

  class TunnelHttpAgent extends HttpAgent {
    override createConnection(options: ClientRequestArgs, onCreated?: OnCreated) {
      const way = open(options, 'http');
      if (way === null) return super.createConnection(options, onCreated);
      tunnel(way).then(
        (socket) => onCreated?.(null, socket),
        (error: Error) => onCreated?.(retryable(error), failed),
      );
      return undefined;
    }

    override destroy(): void {
      ended.abort();
      super.destroy();
    }
  }

  class TunnelHttpsAgent extends HttpsAgent {
    override createConnection(options: ClientRequestArgs, onCreated?: OnCreated) {
      const way = open(options, 'https');
      if (way === null) return super.createConnection(options, onCreated);
      tunnel(way).then(
        (socket) => onCreated?.(null, connectTls({ ...(options as ConnectionOptions), socket })),
        (error: Error) => onCreated?.(retryable(error), failed),
      );
      return undefined;
    }

    override destroy(): void {
      ended.abort();
      super.destroy();
    }
  }

  return { httpAgent: new TunnelHttpAgent(OPTIONS), httpsAgent: new TunnelHttpsAgent(OPTIONS) };
}

/** Gives a ProxyError a code that the SDK retries: it retries failed connections, but does not know ProxyError. */
function retryable(error: Error): Error {
  return Object.assign(error, { $retryable: {} });
}

/** Node ignores the stream beside an error. */
const failed = undefined as unknown as Duplex;
