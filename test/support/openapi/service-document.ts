import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Handbook } from '../../../src/handbook/handbook.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import type { Features } from '../../../src/service/feature-types.ts';
import { ServiceAddress } from '../../../src/service/http/access/service-address.ts';
import { buildApp } from '../../../src/service/http/app.ts';
import { InFlight } from '../../../src/service/http/in-flight.ts';
import { silentLog } from '../database/silent-store.ts';
import { collectRoutes } from '../hostile/route-table.ts';
import { noSessions } from '../users/no-sessions.ts';
import type { OpenApiDocument } from './document.ts';

/** A proxy that has every property while the routes are registered; nothing is called. */
const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });

/** By PUBLIC_URL. Cached for all files of a worker: to make one takes most of a second. */
const texts = new Map<string | null, Promise<string>>();

/** The document of the whole API, of a service with fake dependencies. */
export async function serviceDocument(publicUrl: string | null = null): Promise<OpenApiDocument> {
  const text = texts.get(publicUrl) ?? documentText(publicUrl);
  texts.set(publicUrl, text);
  return JSON.parse(await text);
}

async function documentText(publicUrl: string | null): Promise<string> {
  const app = await emptyService({ pages: [] }, publicUrl);
  const answer = await app.inject({ url: '/openapi.json' });
  await app.close();
  return answer.body;
}

/** The paths of the API and all pages, with `:name` for each parameter; without health and metrics. */
export async function servicePaths(): Promise<readonly string[]> {
  const { plugin, routes } = collectRoutes();
  await (await emptyService({ pages: [] }, null, [plugin])).close();
  return [...new Set(routes.map(({ url }) => url))];
}

/**
 * A service with fake dependencies.
 *
 * @param first plugins to register before the routes
 */
export function emptyService(
  handbook: Handbook,
  publicUrl: string | null = null,
  first: readonly FastifyPluginAsync[] = [],
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
    serviceAddress: new ServiceAddress(null),
    routes: [...first, ...apiRoutes(nothing as Features, never)],
    handbook,
    inFlight: new InFlight(),
    stopping: never,
  });
}
