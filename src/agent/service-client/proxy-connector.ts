import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import type { ChosenProxy } from '../../runtime/net/proxy/choose-proxy.ts';
import { type Limits, limitedWait } from '../net/limited-wait.ts';
import { type NoTunnel, openTunnel } from '../net/proxy/open-tunnel.ts';

export interface ProxyConnectorOptions {
  readonly proxy: ChosenProxy;
  readonly clock: Clock;
  /** Time limit of the connection and tunnel, and again of TLS with the peer behind the proxy. */
  readonly timeoutMs: number;
  /** Ends connections in progress. */
  readonly signal: AbortSignal;
}

/** Why there is no connection through a proxy. */
export type ProxyProblem =
  /** Its name, TCP or TLS failed, with Node's error. */
  | { readonly kind: 'unreachable'; readonly error: unknown }
  | { readonly kind: 'no-tunnel'; readonly end: NoTunnel };

/** The HTTP library's connector can only fail with an Error. */
export class ProxyConnectError extends Error {
  readonly code = 'VEDETTE_PROXY';
  readonly proxy: ChosenProxy;
  readonly problem: ProxyProblem;

  constructor(proxy: ChosenProxy, problem: ProxyProblem) {
    super(`no connection through the proxy ${proxy.shown}`);
    this.proxy = proxy;
    this.problem = problem;
  }
}

/**
 * A connector of the HTTP library through a proxy. For https it opens a tunnel and makes the TLS
 * handshake with the peer behind it; for http it connects to the proxy, which receives requests
 * with their whole URL. Its own failures are ProxyConnectErrors.
 */
export function proxyConnector(options: ProxyConnectorOptions): buildConnector.connector {
  const secure = buildConnector({ timeout: options.timeoutMs });
  return (target, callback) => {
    reach(options, target).then(
      (socket) => {
        if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** @throws ProxyConnectError */
async function reach(
  { proxy, clock, timeoutMs, signal }: ProxyConnectorOptions,
  target: buildConnector.Options,
): Promise<Socket> {
  const limits = { clock, signal, deadlineMs: clock.monotonicMs() + timeoutMs };
  const opened = await openConnection(proxy, limits);
  if (!opened.ok) throw new ProxyConnectError(proxy, { kind: 'unreachable', error: opened.error });
  const { socket } = opened;
  if (target.protocol !== 'https:') return socket;
  const hostname = withoutBrackets(target.hostname);
  const port = target.port === '' ? 443 : Number(target.port);
  const end = await openTunnel(
    socket,
    { hostname, port, authorization: proxy.authorization },
    limits,
  );
  if (!end.ok) throw new ProxyConnectError(proxy, { kind: 'no-tunnel', end });
  return socket;
}

type Opened =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly error: unknown };

/** Connects like the library: by the system's resolver, over either IP family. */
function openConnection(
  { hostname: host, port, isTls }: ChosenProxy,
  limits: Limits,
): Promise<Opened> {
  const ends = {
    timedOut: (): Opened => ({ ok: false, error: { code: 'UND_ERR_CONNECT_TIMEOUT' } }),
    cancelled: (): Opened => ({ ok: false, error: { code: 'UND_ERR_ABORTED' } }),
  };
  return limitedWait<Opened>(limits, ends, (settle) => {
    let isOpen = false;
    const socket = isTls ? connectSecurely(host, port) : connectTcp({ host, port });
    const ready = isTls ? 'secureConnect' : 'connect';
    const onReady = (): void => {
      isOpen = true;
      settle({ ok: true, socket });
    };
    const onError = (error: unknown): void => settle({ ok: false, error });
    const onClose = (): void => onError({ code: 'ECONNRESET' });
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    socket.once(ready, onReady);
    socket.once('error', onError);
    socket.once('close', onClose);
    // The socket may have no other listener for a moment.
    socket.on('error', () => {});
    return () => {
      socket.off(ready, onReady);
      socket.off('error', onError);
      socket.off('close', onClose);
      if (!isOpen) socket.destroy();
    };
  });
}

/** The library's value for direct connections. */
const KEEP_ALIVE_DELAY_MS = 60_000;

function connectSecurely(host: string, port: number): TLSSocket {
  // RFC 6066 3: SNI has names only.
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...servername, ALPNProtocols: ['http/1.1'] });
}
