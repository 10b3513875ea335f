import { isIPv6, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { systemClock } from '../../runtime/clock.ts';
import { endpointText } from '../../runtime/net/endpoint-text.ts';
import type { ChosenProxy } from '../../runtime/net/proxy/choose-proxy.ts';
import { ASKS_FOR_CREDENTIALS } from '../../runtime/net/proxy/connect-response.ts';
import { requestTunnel, type TunnelRefusal } from '../../runtime/net/proxy/request-tunnel.ts';
import { abortable, type ConnectLimits } from './connect-limits.ts';
import { connectionReason } from './connection-reasons.ts';

export const PROXY_CODE = 'VEDETTE_PROXY';

/**
 * Explains to users why a connection through a proxy failed. Names only the variable, not the operator's
 * network. Contains nothing else about the proxy, since the log prints all fields of an error.
 */
export class ProxyError extends Error {
  readonly code = PROXY_CODE;
  /** Whether the receiver could not be reached or found. Otherwise the proxy or its configuration failed. */
  readonly isOfReceiver: boolean;

  constructor(message: string, { isOfReceiver = false } = {}) {
    super(message);
    this.isOfReceiver = isOfReceiver;
  }
}

/**
 * Connects to a proxy, with TLS if its URL begins with https. Resolves its name with the system's resolver.
 *
 * @throws ProxyError
 */
export function connectToProxy(
  proxy: ChosenProxy,
  { timeoutMs, signal }: ConnectLimits,
): Promise<Socket> {
  const { hostname, port, isTls, variable } = proxy;
  const connect = abortable(buildConnector({ timeout: timeoutMs }), signal);
  const target = {
    hostname,
    host: endpointText(hostname, port),
    protocol: isTls ? 'https:' : 'http:',
    port: String(port),
  };
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => {
      if (error === null) resolve(socket);
      else {
        const reason = connectionReason(error, timeoutMs);
        reject(new ProxyError(`no connection to the proxy of ${variable}: ${reason}`));
      }
    });
  });
}

/**
 * Connects to a proxy and requests a tunnel to the first address that it reaches.
 *
 * @param hosts names or addresses without brackets, at least one
 * @throws ProxyError
 */
export async function connectThroughProxy(
  proxy: ChosenProxy,
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
  limits: ConnectLimits,
): Promise<Socket> {
  let last: Refusal | null = null;
  for (const hostname of alternatingFamilies(hosts).slice(0, MAX_HOSTS)) {
    const socket = await connectToProxy(proxy, limits);
    const { authorization } = proxy;
    const answer = await tunnelOver(socket, { hostname, port, authorization }, limits);
    if (answer.ok) return socket;
    last = answer;
    // Another address can help only after such a status.
    if (answer.ended !== 'answered' || answer.status < 500) break;
  }
  if (last === null) throw new ProxyError('there is no address to connect to');
  throw new ProxyError(refusalText(proxy, last), { isOfReceiver: isOfReceiver(last) });
}

/** More would take longer than a notice may. */
const MAX_HOSTS = 3;

/** Alternates families (RFC 8305 4): a name may have many addresses of a family that the proxy cannot reach. */
function alternatingFamilies(hosts: readonly string[]): readonly string[] {
  const isV6 = isIPv6(hosts[0] ?? '');
  const first = hosts.filter((host) => isIPv6(host) === isV6);
  const other = hosts.filter((host) => isIPv6(host) !== isV6);
  const pairs = first.flatMap((host, n) => [host, ...other.slice(n, n + 1)]);
  return [...pairs, ...other.slice(first.length)];
}

/** The proxy accepted the connection, but did not answer in time. */
interface TunnelTimeout {
  readonly ok: false;
  readonly ended: 'timed-out';
  readonly what: string;
}
type Refusal = TunnelRefusal | TunnelTimeout;
type Answer = { readonly ok: true } | Refusal;

function tunnelOver(
  socket: Socket,
  request: Parameters<typeof requestTunnel>[1],
  { timeoutMs, signal }: ConnectLimits,
): Promise<Answer> {
  return new Promise((resolve) => {
    let release: (() => void) | null = null;
    let answer: Answer | null = null;
    const settle = (given: Answer): void => {
      if (answer !== null) return;
      answer = given;
      cancel();
      signal.removeEventListener('abort', onAbort);
      release?.();
      resolve(given);
    };
    const onTimeout = (): void =>
      settle({
        ok: false,
        ended: 'timed-out',
        what: `it did not answer within ${timeoutMs / 1000} s`,
      });
    const onAbort = (): void =>
      settle({ ok: false, ended: 'broken', what: 'the service ended the connection' });
    // Limits the time for the whole head: the idle timeout of the socket would restart with each byte.
    const cancel = systemClock.after(timeoutMs, onTimeout);
    signal.addEventListener('abort', onAbort, { once: true });
    release = requestTunnel(socket, request, settle);
    if (signal.aborted) onAbort();
    if (answer !== null) release();
  });
}

/** Statuses of proxies that could not connect to a host or find its name. */
const UNREACHED: readonly number[] = [500, 502, 503, 504];

/** Whether a refusal concerns the receiver. Includes timeouts: a proxy waits for a silent host longer than we wait. */
function isOfReceiver(refusal: Refusal): boolean {
  if (refusal.ended === 'answered') return UNREACHED.includes(refusal.status);
  return refusal.ended === 'timed-out';
}

/** Describes a refusal without text from the proxy, which may repeat the credentials. */
function refusalText({ variable, authorization }: ChosenProxy, refusal: Refusal): string {
  const proxy = `the proxy of ${variable}`;
  if (refusal.ended !== 'answered') return `no tunnel through ${proxy}: ${refusal.what}`;
  const { status } = refusal;
  if (ASKS_FOR_CREDENTIALS.has(status)) {
    return authorization === null
      ? `${proxy} requires a user and a password (${status})`
      : `${proxy} rejected its user and password (${status})`;
  }
  const advice =
    status >= 500
      ? 'it could not reach the host, or not find its name'
      : 'its rules have to allow this host and port';
  return `${proxy} answered ${status} to CONNECT: ${advice}`;
}
