import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routeAccess } from '../access/route-access.ts';
import type { ServiceAddress } from '../access/service-address.ts';
import { addVary } from '../content-coding.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'X-Request-Id',
  'X-Service-Account',
];
const RESPONSE_HEADERS = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'X-Next-Cursor',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-Total-Count',
  'X-Total-Count-At-Least',
];
const PREFLIGHT_SECONDS = 600;

export interface CorsParts {
  /** The allowed origins, as browsers send them in `Origin`. */
  readonly origins: readonly string[];
  readonly serviceAddress: ServiceAddress;
}

/**
 * Allows pages of the listed origins to use the API with a key (Fetch Standard, CORS protocol). Ignores their
 * cookies, and no response allows credentials. Must be added before the authentication: a preflight request has
 * no key.
 */
export function addCors(app: FastifyInstance, { origins, serviceAddress }: CorsParts): void {
  if (origins.length === 0) return;
  const listed = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    if (!isForKeys(request)) return;
    addVary(reply, 'origin');
    const { origin, 'access-control-request-method': wanted } = request.headers;
    if (origin === undefined || !listed.has(origin) || serviceAddress.hasOrigin(request)) return;
    delete request.headers.cookie;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': RESPONSE_HEADERS.join(', '),
    });
    if (request.method !== 'OPTIONS' || wanted === undefined) return;
    return reply
      .headers({
        'access-control-allow-methods': METHODS.join(', '),
        'access-control-allow-headers': REQUEST_HEADERS.join(', '),
        'access-control-max-age': PREFLIGHT_SECONDS,
      })
      .code(204)
      .send();
  });
}

/** Whether the path is under /v1 and accepts a key, unlike the paths of sessions. */
function isForKeys({ url, is404, routeOptions }: FastifyRequest): boolean {
  // Uses the pattern of the route: in the URL of the request, any character may be escaped.
  const path = is404 ? url : (routeOptions.url ?? '');
  return path.startsWith('/v1/') && (is404 || routeAccess(routeOptions.config).kind === 'role');
}
