import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { MAX_BATCH_BYTES, PATHS } from '../../../wire/v1/limits.ts';
import { resultsEnvelope, resultsResponseSchema } from '../../../wire/v1/results.ts';
import { agentOf } from '../../http/access/agent-access.ts';
import type { ResultIntake } from './intake.ts';

/** Agents send their results here: src/agent/README.md, "Delivery of results". */
export function agentResultsRoutes({
  resultIntake,
}: {
  readonly resultIntake: ResultIntake;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATHS.results,
      {
        config: { agent: true, gzip: true, manyValues: true },
        bodyLimit: MAX_BATCH_BYTES,
        schema: { hide: true, body: resultsEnvelope, response: { 200: resultsResponseSchema } },
      },
      async (request) => resultIntake.take(agentOf(request), request.body),
    );
  };
}
