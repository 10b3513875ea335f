import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { errorBody } from '../errors.ts';
import type { ServiceMetrics } from './metrics.ts';
import { errorSchema } from './openapi/error-schema.ts';

export interface HealthParts {
  readonly version: string;
  readonly metrics: ServiceMetrics;
  readonly clock: Clock;
  readonly databaseAnswers: () => Promise<boolean>;
  /** Called only where the database answers. */
  readonly takesResults: () => Promise<boolean>;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

/** Probes come from the same address, and often. */
const PROBE = { public: true, rateLimit: false, probe: true } as const;
const TAGS = ['Health'];
const plain = (description: string) => ({
  description,
  content: { 'text/plain': { schema: z.string() } },
});
const HEALTH = z.object({
  version: z.string().describe('The version of the service.'),
  state: z.enum(['running', 'draining']).describe('`draining` while the service stops.'),
  database: z
    .enum(['answers', 'silent', 'refuses'])
    .describe(
      '`silent`: no answer in 2 s. `refuses`: results cannot be stored, because its disk is full or it is read-only.',
    ),
});

/** A probe without an answer by then has failed. */
const PROBE_LIMIT_MS = 2_000;

/** Null if requests should be sent here. */
const NOT_READY = {
  answers: null,
  silent: 'The database does not answer',
  refuses: 'The database refuses results: its disk is full, or it is read-only',
} as const;

/** For orchestrators, dashboards and Prometheus. */
export function healthRoutes({
  version,
  metrics,
  clock,
  databaseAnswers,
  takesResults,
  stopping,
}: HealthParts): FastifyPluginAsync {
  const doesAnswer = createLimitedProbe(databaseAnswers, clock);
  const doesTakeResults = createLimitedProbe(takesResults, clock);
  const database = async (): Promise<z.infer<typeof HEALTH>['database']> => {
    if (!(await doesAnswer())) return 'silent';
    return (await doesTakeResults()) ? 'answers' : 'refuses';
  };

  return async (app) => {
    app.get(
      '/-/readiness',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          operationId: 'getReadiness',
          summary: 'Readiness',
          description:
            '503 while the service stops, while the database does not respond within 2 s, and while it refuses results because its disk is full or it is read-only.',
          response: {
            200: plain('Ready'),
            503: errorSchema.describe('Why the service is not ready.'),
          },
        },
      },
      async (_request, reply) => {
        const reason = stopping.aborted ? 'The service is stopping' : NOT_READY[await database()];
        if (reason === null) return reply.type('text/plain; charset=utf-8').send('ready\n');
        // Not thrown, as errors of 500 and above are logged each time.
        return reply.code(503).send(errorBody(503, reason));
      },
    );

    app.get(
      '/-/liveness',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          operationId: 'getLiveness',
          summary: 'Liveness',
          response: { 200: plain('Alive') },
        },
      },
      async (_request, reply) => reply.type('text/plain; charset=utf-8').send('live\n'),
    );

    app.get(
      '/health',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          operationId: 'getHealth',
          summary: 'State of the service as JSON',
          response: { 200: HEALTH.describe('The state of the service.') },
        },
      },
      async () => {
        const state = stopping.aborted ? 'draining' : 'running';
        return { version, state, database: await database() };
      },
    );

    app.get(
      '/metrics',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          operationId: 'getMetrics',
          summary: 'Metrics in the text format of Prometheus',
          response: { 200: plain('Metrics') },
        },
      },
      async (_request, reply) =>
        reply.type(metrics.registry.contentType).send(await metrics.text()),
    );
  };
}

/** Whether it answers with true within two seconds. Never rejects. */
type LimitedProbe = () => Promise<boolean>;

/**
 * Concurrent callers share one probe, so that hanging probes do not accumulate.
 *
 * @param ask a rejection counts as false
 */
function createLimitedProbe(ask: () => Promise<boolean>, clock: Clock): LimitedProbe {
  let asking: Promise<boolean> | null = null;
  return () => {
    asking ??= ask()
      .catch(() => false)
      .finally(() => {
        asking = null;
      });
    const asked = asking;
    return new Promise((resolve) => {
      const cancel = clock.after(PROBE_LIMIT_MS, () => resolve(false));
      void asked.then((isYes) => {
        cancel();
        resolve(isYes);
      });
    });
  };
}
