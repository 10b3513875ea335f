import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { errorsRequestSchema, errorsResponseSchema } from '../../wire/v1/error-report.ts';
import { MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { agentOf } from '../http/access/agent-access.ts';
import type { AgentErrors } from './agent-errors.ts';

/** The route on which agents report their own errors. */
export function agentErrorsRoutes(features: {
  readonly agentErrors: Pick<AgentErrors, 'take'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.post(
      PATHS.errors,
      {
        config: { agent: true, gzip: true, manyValues: true },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { body: errorsRequestSchema, response: { 200: errorsResponseSchema } },
      },
      (request) => features.agentErrors.take(agentOf(request), request.body),
    );
  };
}
