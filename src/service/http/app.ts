import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ClientErrors } from '../../runtime/net/client-errors.ts';
import { VERSION } from '../../runtime/version.ts';
import type { ServiceConfig } from '../config.ts';
import { ping } from '../database/open-store.ts';
import { errorBody, tooManyRequests } from '../errors.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { addAuthentication } from './access/authentication.ts';
import type { Authenticator, KeyHolders } from './access/authenticator.ts';
import { AllowedMethods } from './allowed-methods.ts';
import { type FeatureCounts, NO_COUNTS } from './feature-counts.ts';
import { healthRoutes } from './health.routes.ts';
import type { InFlight } from './in-flight.ts';
import { createLimitedProbe } from './limited-probe.ts';
import { createServiceMetrics } from './metrics.ts';
import { addOpenApi } from './openapi/plugin.ts';
import { ApiDocuments, openApiRoutes } from './openapi/routes.ts';
import { addConnectionBounds, type ConnectionLimits } from './plugins/connections.ts';
import { addErrors, answerFrameworkError } from './plugins/errors.ts';
import { addBodyEncodings } from './plugins/gzip-body.ts';
import { addJsonBodies } from './plugins/json-body.ts';
import { addObservation, requestIdOf } from './plugins/observe.ts';
import { addSchemas } from './plugins/schemas.ts';

export { agentOf } from './access/agent-access.ts';
export { callerOf } from './access/authentication.ts';

export interface AppParts {
  /** Asked whether it is there; all else is for the features. */
  readonly store: { query(text: string): Promise<unknown> };
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<ServiceConfig, 'rateLimitPerMinute' | 'trustedProxies'>;
  readonly authenticator: Authenticator;
  readonly locationKeys: KeyHolders<AgentCaller>;
  /** The routes of the features. Each says who may use it: see route-access.ts. */
  readonly routes: readonly FastifyPluginAsync[];
  readonly inFlight: InFlight;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
  /** Others than the service's own. */
  readonly limits?: HttpLimits;
  /** Whether results can be stored, as far as is known; they can where left out. */
  readonly takesResults?: () => Promise<boolean>;
  /** For the metrics; nothing was counted where left out. */
  readonly counts?: () => FeatureCounts;
}

/** How long and how many clients may be connected. */
export interface HttpLimits extends ConnectionLimits {
  /** From the opening of a connection, or its first byte after an answer, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** How often that is looked at. */
  readonly checkingIntervalMs: number;
}

const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 15_000,
  checkingIntervalMs: 5_000,
  max: 10_000,
  // The agents of a location may share an address, and each has a few connections.
  maxPerAddress: 2_500,
  reserve: 200,
};

/** What a check with the longest body of its own takes, with room. A route may have its own. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Longer than any id, so that the schemas say what is wrong with it. */
const MAX_PARAM_CHARS = 1024;
/** A part of an artifact, 8 MiB, over a line that brings 16 KiB a second, with room. */
const REQUEST_TIMEOUT_MS = 600_000;
/** A socket on which nothing moves. Longer than the longest poll. */
const IDLE_TIMEOUT_MS = 120_000;
/** Longer than load balancers keep theirs (60 s as a rule), so that we never hang up on them first. */
const KEEP_ALIVE_MS = 75_000;
const MINUTE_MS = 60_000;
const MAX_COUNTED_CLIENTS = 10_000;
/** For each location key, which all agents of a location share. */
const MAX_AGENT_REQUESTS_PER_MINUTE = 60_000;

/**
 * The whole HTTP side of the service, ready to listen: whoever comes, and however badly.
 *
 * @throws where a route does not say who may use it, or two have the same address
 */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { clock, log, config, inFlight, stopping, limits = HTTP_LIMITS } = parts;
  const clientErrors = new ClientErrors({
    clock,
    answer: (status, message) => ({
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify(errorBody(status, message)),
    }),
  });
  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkingIntervalMs,
    },
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // While stopping, what still comes in is answered as ever, on connections that then end.
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: clientErrors.handle,
  });
  clientErrors.watch(app.server);

  const metrics = createServiceMetrics({
    version: VERSION,
    inFlight: () => inFlight.size,
    counts: parts.counts ?? (() => NO_COUNTS),
  });
  const allowed = new AllowedMethods();
  app.addHook('onRoute', ({ url, method }) => allowed.add(url, method));
  addObservation(app, { clock, log, metrics, inFlight, stopping });
  addConnectionBounds(app, { clock, log, metrics, limits, trustedProxies: config.trustedProxies });
  await app.register(rateLimit, {
    max: ({ agent }) =>
      agent === null ? config.rateLimitPerMinute : MAX_AGENT_REQUESTS_PER_MINUTE,
    timeWindow: MINUTE_MS,
    cache: MAX_COUNTED_CLIENTS,
    // Before authentication a request counts for its address, after it for its key.
    keyGenerator: ({ caller, agent, ip }) => {
      if (agent !== null) return `location-key:${agent.keyId}`;
      return caller === null ? `ip:${normalizeIP(ip)}` : `key:${caller.keyId}`;
    },
    errorResponseBuilder: (_request, { max, ttl }) =>
      tooManyRequests(max, Math.max(1, Math.ceil(ttl / 1000))),
  });
  addErrors(app, { log, allowed, clock });
  const { authenticator, locationKeys } = parts;
  addAuthentication(app, { authenticator, locationKeys, clock });
  addBodyEncodings(app);
  addJsonBodies(app);
  addSchemas(app, { clock, log });
  await addOpenApi(app, VERSION);

  const { store, takesResults = async () => true } = parts;
  const databaseAnswers = createLimitedProbe(async () => {
    await ping(store);
    return true;
  }, clock);
  const probes = { databaseAnswers, takesResults: createLimitedProbe(takesResults, clock) };
  const documents = new ApiDocuments(app);
  app.decorate('documents', documents);
  await app.register(healthRoutes({ version: VERSION, metrics, ...probes, stopping }));
  await app.register(openApiRoutes(documents));
  for (const routes of parts.routes) await app.register(routes);
  await app.ready();
  return app;
}
