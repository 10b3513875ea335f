import type { FastifyInstance } from 'fastify';
import type { Handbook } from '../../../src/handbook/handbook.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import type { Features } from '../../../src/service/features.ts';
import { Site } from '../../../src/service/http/access/site.ts';
import { buildApp } from '../../../src/service/http/app.ts';
import { InFlight } from '../../../src/service/http/in-flight.ts';
import { silentLog } from '../database/silent-store.ts';
import { noSessions } from '../users/no-sessions.ts';
import type { OpenApiDocument } from './document.ts';

/** A proxy that has every property while the routes are registered; nothing is called. */
const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });

/** The document of the whole API, of a service with fake dependencies. */
export async function serviceDocument(publicUrl: string | null = null): Promise<OpenApiDocument> {
  const app = await emptyService({ pages: [] }, publicUrl);
  const answer = await app.inject({ url: '/openapi.json' });
  await app.close();
  return answer.json();
}

/** A service with fake dependencies. */
export function emptyService(
  handbook: Handbook,
  publicUrl: string | null = null,
): Promise<FastifyInstance> {
  const never = new AbortController().signal;
  const nobody = { authenticate: async () => null };
  return buildApp({
    store: { query: async () => [] },
    clock: systemClock,
    log: silentLog(),
    config: { rateLimitPerMinute: 600, trustedProxies: [], publicUrl },
    authenticator: nobody,
    locationKeys: nobody,
    sessions: noSessions(),
    site: new Site(null),
    routes: apiRoutes(nothing as Features, never),
    handbook,
    inFlight: new InFlight(),
    stopping: never,
  });
}
