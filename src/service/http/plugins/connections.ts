import { isIP, type Socket } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import {
  boundConnections,
  type ClosedState,
  ConnectionBound,
  MAX_UNANSWERED,
} from '../../../runtime/net/connection-bound.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { errorBody } from '../../errors.ts';
import type { ServiceMetrics } from '../metrics.ts';
import { trustedProxies } from '../trusted-proxies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is served even if all connections for other requests are in use. */
    probe?: true;
  }
}

/** How many connections may be open at once. */
export interface ConnectionLimits {
  readonly max: number;
  /** From one address (IPv6: one /64 network) that is no trusted proxy. */
  readonly maxPerAddress: number;
  /** In addition to `max`, only for probes; at most half of them from one address. */
  readonly reserve: number;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  /** Networks and addresses. */
  readonly trustedProxies: readonly string[];
  readonly limits: ConnectionLimits;
}

const RETRY_SECONDS = 5;

const CLOSED_BECAUSE = {
  full: 'too many connections are open, so some are closed: see who opens them, and name proxies that bring many clients in TRUSTED_PROXIES',
  pipelining: `connections are closed that sent more than ${MAX_UNANSWERED} requests without waiting for the answers: see who sends them, and turn HTTP pipelining off there`,
} as const;

/**
 * Bounds the connections, in total and by address. When all of them have a request in progress, a new
 * connection uses the reserve, on which only probes are answered and other requests get 503.
 */
export function addConnectionBounds(app: FastifyInstance, parts: ConnectionParts): void {
  const { metrics, limits } = parts;
  const addressOf = addressCounter(parts.trustedProxies);
  const throttled = new ThrottledLog(parts.clock, parts.log, {
    countFields: (closed) => ({ closed }),
  });
  const report = (reason: keyof typeof CLOSED_BECAUSE, { remoteAddress }: Socket): void =>
    throttled.warn(reason, { lastAddress: remoteAddress }, CLOSED_BECAUSE[reason]);
  const onClosed = (state: ClosedState, socket: Socket): void => {
    metrics.connectionClosed(state);
    report(state === 'pipelining' ? 'pipelining' : 'full', socket);
  };
  const { max, maxPerAddress, reserve: reserved } = limits;
  const ordinary = new ConnectionBound({
    max,
    maxPerAddress,
    addressOf,
    closesBusy: false,
    onClosed,
  });
  const reserve = new ConnectionBound({
    max: reserved,
    maxPerAddress: Math.ceil(reserved / 2),
    addressOf,
    closesBusy: true,
    onClosed,
  });
  boundConnections(app.server, [ordinary, reserve]);
  metrics.readConnections(() => ordinary.size + reserve.size);
  app.addHook('onRequest', async (request, reply) => {
    if (!reserve.has(request.raw.socket)) return;
    reply.header('connection', 'close');
    if (request.routeOptions.config?.probe === true) return;
    // Not thrown: logging each of these would add to the load.
    report('full', request.raw.socket);
    return reply
      .code(503)
      .header('retry-after', RETRY_SECONDS)
      .send(errorBody(503, 'The service has as many connections as it can serve; try again'));
  });
}

/** Returns the key that an address is counted by; null for trusted proxies, which have many clients. */
function addressCounter(proxies: readonly string[]): (socket: Socket) => string | null {
  const trusts = trustedProxies(proxies);
  return ({ remoteAddress }) => {
    const [address = ''] = (remoteAddress ?? '').split('%');
    if (isIP(address) === 0) return '';
    return trusts(address) ? null : normalizeIP(address);
  };
}
