import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { errorBody } from '../../errors.ts';
import type { DatabaseProbe } from '../database-probe.ts';
import { errorSchema } from '../error-schema.ts';
import type { ServiceMetrics } from '../metrics.ts';

export interface HealthParts {
  readonly version: string;
  readonly metrics: ServiceMetrics;
  readonly database: DatabaseProbe;
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
  version: z.string(),
  state: z.enum(['running', 'draining']),
  database: z.enum(['answers', 'silent']),
});

/** For orchestrators, dashboards and Prometheus. */
export function healthRoutes({
  version,
  metrics,
  database,
  stopping,
}: HealthParts): FastifyPluginAsync {
  return async (app) => {
    app.get(
      '/-/readiness',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          summary: 'Whether requests should be sent here',
          description: '503 while the service stops and while the database does not answer in 2 s.',
          response: { 200: plain('Ready'), 503: errorSchema },
        },
      },
      async (_request, reply) => {
        const reason = stopping.aborted
          ? 'The service is stopping'
          : (await database.answers())
            ? null
            : 'The database does not answer';
        if (reason === null) return reply.type('text/plain; charset=utf-8').send('ready\n');
        // No error of a request: nobody needs it in the log every few seconds.
        return reply.code(503).send(errorBody(503, reason));
      },
    );

    app.get(
      '/-/liveness',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          summary: 'Whether the process answers at all',
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
          summary: 'How the service stands, for people',
          response: { 200: HEALTH },
        },
      },
      async () => {
        const isUp = await database.answers();
        return {
          version,
          state: stopping.aborted ? 'draining' : 'running',
          database: isUp ? 'answers' : 'silent',
        };
      },
    );

    app.get(
      '/metrics',
      {
        config: PROBE,
        schema: {
          tags: TAGS,
          summary: 'Metrics in the text format of Prometheus',
          response: { 200: plain('Metrics') },
        },
      },
      async (_request, reply) =>
        reply.type(metrics.registry.contentType).send(await metrics.text()),
    );
  };
}
