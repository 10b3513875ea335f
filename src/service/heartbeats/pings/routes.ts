import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ServiceError, tooManyRequests } from '../../errors.ts';
import { HEARTBEAT_STATES } from '../heartbeat-state-machine.ts';
import type { HeartbeatPings } from './pings.ts';

/**
 * Only unknown tokens are rate-limited, against guessing: many jobs share an address, and a refused
 * ping is a false alarm. Behind a proxy that is not in TRUSTED_PROXIES all clients share one address,
 * so recently accepted tokens stay exempt.
 */
const MAX_UNKNOWN_PER_MINUTE = 1_200;

const PUBLIC = { public: true, rateLimit: false } as const;
const params = z.object({ token: z.string().describe('The `pingToken` of a heartbeat check.') });
const response = z.strictObject({
  state: z.enum(HEARTBEAT_STATES).describe('What the ping was taken for.'),
});

/** The ping endpoint of jobs: src/service/README.md, "Heartbeats". HEAD counts too. */
export function heartbeatPingsRoutes({
  heartbeatPings,
}: {
  readonly heartbeatPings: HeartbeatPings;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    const countUnknown = app.createRateLimit({ max: MAX_UNKNOWN_PER_MINUTE });
    // The server discards the body unread.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));

    app.route({
      method: ['GET', 'POST'],
      url: '/heartbeat/:token',
      config: { ...PUBLIC, audit: { none: 'a ping is a report of a job, and a heartbeat event' } },
      schema: {
        tags: ['Heartbeats'],
        operationId: 'pingHeartbeat',
        summary: 'Ping a heartbeat check',
        description:
          'Needs no API key, only the token. Ignores body and query. Pings within a second of another are counted and get the same response.',
        params,
        response: { 200: response.describe('How the ping was counted.') },
      },
      handler: async (request) => {
        const { method, ip, headers } = request;
        const { token } = request.params;
        const unknown = await countUnknown(request, { increment: false });
        if (!unknown.isAllowed && unknown.remaining <= 0 && !heartbeatPings.isKnown(token)) {
          throw tooManyRequests(unknown.max, Math.max(1, unknown.ttlInSeconds));
        }
        try {
          const state = await heartbeatPings.ping(token, {
            source: `HTTP ${method} from ${ip}`,
            userAgent: headers['user-agent'] ?? '',
          });
          return { state };
        } catch (error) {
          if (error instanceof ServiceError && error.status === 404) await countUnknown(request);
          throw error;
        }
      },
    });
  };
}
