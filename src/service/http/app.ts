import type { IncomingMessage } from 'node:http';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import type { Handbook } from '../../handbook/handbook.ts';
import { MINUTE_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ClientErrors } from '../../runtime/net/client-errors.ts';
import { VERSION } from '../../runtime/version.ts';
import type { AuditLog } from '../audit-log/audit-log.ts';
import type { ServiceConfig } from '../config.ts';
import { ping } from '../database/open-store.ts';
import { errorBody, tooManyRequests } from '../errors.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { addAuthentication } from './access/authentication.ts';
import type { Authenticator, KeyHolders, SignedIn } from './access/caller.ts';
import type { KeyCache } from './access/key-cache.ts';
import type { ServiceAddress } from './access/service-address.ts';
import { AllowedMethods } from './allowed-methods.ts';
import { checkFileSchemaRoutes } from './check-file-schema.routes.ts';
import { HandbookPages, handbookRoutes } from './handbook/routes.ts';
import { healthRoutes } from './health.routes.ts';
import type { InFlight } from './in-flight.ts';
import { createServiceMetrics, type FeatureCounts, NO_COUNTS } from './metrics.ts';
import { NO_JSON_SCHEMAS } from './no-json-schemas.ts';
import { ApiDocuments, openApiRoutes } from './openapi/routes.ts';
import { addAudit } from './plugins/audit.ts';
import { addCompression } from './plugins/compression.ts';
import { addConnectionBounds, type ConnectionLimits } from './plugins/connections.ts';
import { addCors } from './plugins/cors.ts';
import { addErrors, frameworkErrorResponse } from './plugins/errors.ts';
import { addEtags } from './plugins/etags.ts';
import { addBodyEncodings } from './plugins/gzip-body.ts';
import { addIdempotency } from './plugins/idempotency.ts';
import { addJsonBodies } from './plugins/json-body.ts';
import { addObservation, requestIdOf } from './plugins/observe.ts';
import { addQueryNames } from './plugins/query-names.ts';
import { addSchemas } from './plugins/schemas.ts';
import { type TrustsAddress, trustedProxies } from './trusted-proxies.ts';

export { agentOf } from './access/agent-access.ts';
export { callerOf } from './access/authentication.ts';

export interface AppParts {
  /** For the health routes only. */
  readonly store: { query(text: string): Promise<unknown> };
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<ServiceConfig, 'rateLimitPerMinute' | 'trustedProxies'> & {
    readonly publicUrl?: string | null;
    readonly corsOrigins?: readonly string[];
  };
  readonly authenticator: Authenticator;
  readonly locationKeys: KeyHolders<AgentCaller>;
  readonly sessions: KeyCache<SignedIn>;
  readonly serviceAddress: ServiceAddress;
  /** The routes of the features. Each says who may use it: see route-access.ts. */
  readonly routes: readonly FastifyPluginAsync[];
  /** The path within the service that a request is for, by its host. Default: the path it names. */
  readonly pathOf?: (request: IncomingMessage, trusts: TrustsAddress) => string;
  readonly handbook: Handbook;
  readonly inFlight: InFlight;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
  /** Default: HTTP_LIMITS. */
  readonly limits?: HttpLimits;
  /** Whether results can be stored, as far as is known. Default: true. */
  readonly takesResults?: () => Promise<boolean>;
  /** Default: Idempotency-Key has no meaning. */
  readonly idempotency?: Idempotency;
  /** Left out, no entries are written. */
  readonly auditLog?: Pick<AuditLog, 'recording'>;
  /** For the metrics. Default: zeros. */
  readonly counts?: () => FeatureCounts;
}

/** How long and how many clients may be connected. */
export interface HttpLimits extends ConnectionLimits {
  /** From the opening of a connection, or its first byte after an answer, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** How often the timeout is checked. */
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

/** More than a check with the longest request body. A route may have its own limit. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Longer than any id, so that the schema reports what is wrong with a longer one. */
const MAX_PARAM_CHARS = 1024;
/** Enough for a part of an artifact, 8 MiB, at 16 KiB a second. */
const REQUEST_TIMEOUT_MS = 600_000;
/** For an idle socket. Longer than the longest poll. */
const IDLE_TIMEOUT_MS = 120_000;
/** Longer than load balancers keep connections (usually 60 s): they close first. */
const KEEP_ALIVE_MS = 75_000;
const MAX_COUNTED_CLIENTS = 10_000;
/** For each location key, which all agents of a location share. */
const MAX_AGENT_REQUESTS_PER_MINUTE = 60_000;

/**
 * The HTTP server of the service, ready to listen.
 *
 * @throws where a route does not declare who may use it, or two have the same URL
 */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { clock, log, config, inFlight, stopping, limits = HTTP_LIMITS } = parts;
  const { pathOf = ({ url = '/' }) => url } = parts;
  const trusts = trustedProxies(config.trustedProxies);
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
    // While stopping, requests are still answered, on connections that then end.
    return503OnClosing: false,
    rewriteUrl: (request) => pathOf(request, trusts),
    schemaController: NO_JSON_SCHEMAS,
    frameworkErrors: frameworkErrorResponse,
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
  addObservation(app, {
    clock,
    log,
    metrics,
    inFlight,
    stopping,
    serviceAddress: parts.serviceAddress,
  });
  addConnectionBounds(app, { clock, log, metrics, limits, trustedProxies: config.trustedProxies });
  addCors(app, { origins: config.corsOrigins ?? [], serviceAddress: parts.serviceAddress });
  await app.register(rateLimit, {
    max: ({ agent }) =>
      agent === null ? config.rateLimitPerMinute : MAX_AGENT_REQUESTS_PER_MINUTE,
    timeWindow: MINUTE_MS,
    cache: MAX_COUNTED_CLIENTS,
    // Before authentication a request counts for its address, after it for its key or user.
    keyGenerator: ({ caller, signedIn, agent, ip }) => {
      if (agent !== null) return `location-key:${agent.keyId}`;
      if (signedIn !== null) return `user:${signedIn.userId}`;
      return caller === null ? `ip:${normalizeIP(ip)}` : `key:${caller.by.id}`;
    },
    errorResponseBuilder: (_request, { max, ttl }) =>
      tooManyRequests(max, Math.max(1, Math.ceil(ttl / 1000))),
  });
  app.decorate('lists', { clock, publicUrl: config.publicUrl ?? null });
  addErrors(app, { log, allowed, clock });
  const { authenticator, locationKeys, sessions, serviceAddress } = parts;
  addAuthentication(app, { authenticator, locationKeys, sessions, serviceAddress, clock });
  addBodyEncodings(app);
  addJsonBodies(app);
  addQueryNames(app);
  addEtags(app);
  if (parts.idempotency !== undefined) {
    addIdempotency(app, { idempotency: parts.idempotency, log });
  }
  // After the hooks that keep or compare what is sent.
  addCompression(app);
  if (parts.auditLog !== undefined) addAudit(app, parts.auditLog);
  addSchemas(app, { clock, log });

  const { store, takesResults = async () => true } = parts;
  const databaseAnswers = () => ping(store).then(() => true);
  const probes = { databaseAnswers, takesResults };
  const documents = new ApiDocuments(app, VERSION);
  app.decorate('documents', documents);
  await app.register(healthRoutes({ version: VERSION, clock, metrics, ...probes, stopping }));
  await app.register(openApiRoutes(documents));
  await app.register(checkFileSchemaRoutes);
  await app.register(handbookRoutes(new HandbookPages(parts.handbook)));
  for (const routes of parts.routes) await app.register(routes);
  await app.ready();
  return app;
}
