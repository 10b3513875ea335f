import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { ServiceAddress } from '../access/service-address.ts';
import type { InFlight } from '../in-flight.ts';
import type { ServiceMetrics } from '../metrics.ts';

/** Request ids that are safe in a log line and a header. */
const SANE_REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;

/** Returns the request id of the client or a proxy if it is safe, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/** Headers of every response of the API, including errors. */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** RFC 6797, one year. Without includeSubDomains: other hosts do not belong to the service. */
const HSTS = 'max-age=31536000';

export interface ObserveParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  readonly inFlight: InFlight;
  readonly serviceAddress: ServiceAddress;
  /** Aborts when the service stops: from then on no connection is kept alive. */
  readonly stopping: AbortSignal;
}

/** Request ids, security headers, metrics and the log of requests. Must be added first. */
export function addObservation(app: FastifyInstance, parts: ObserveParts): void {
  const { clock, log, metrics, inFlight, stopping, serviceAddress } = parts;
  app.addHook('onRequest', async (request, reply) => {
    const startMs = clock.monotonicMs();
    inFlight.add(reply.raw);
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
    if (serviceAddress.isHttps(request)) reply.header('strict-transport-security', HSTS);
    if (stopping.aborted) reply.header('connection', 'close');
    reply.raw.once('close', () => {
      const durationMs = clock.monotonicMs() - startMs;
      const status = reply.raw.writableFinished ? reply.raw.statusCode : null;
      const route = request.is404 ? null : (request.routeOptions.url ?? null);
      metrics.finished({ method: request.method, route, status, durationMs });
      // Does not log the path and query, which may contain secrets.
      log.debug(
        {
          requestId: request.id,
          method: request.method,
          route,
          status,
          durationMs,
          ...callerFields(request),
        },
        'request',
      );
    });
  });
}

function callerFields(request: Pick<FastifyRequest, 'caller' | 'signedIn' | 'agent'>) {
  const { caller, signedIn, agent } = request;
  if (signedIn !== null) return { userId: signedIn.userId };
  return { keyId: caller?.by.id ?? agent?.keyId };
}
