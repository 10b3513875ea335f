import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { MAX_BATCH_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { trialReportSchema, trialResponseSchema } from '../../wire/v1/trials.ts';
import { agentOf } from '../http/access/agent-access.ts';
import type { CheckTrials } from './check-trials.ts';

/** The route on which agents report how trials ended. */
export function agentTrialsRoutes({
  checkTrials,
}: {
  readonly checkTrials: Pick<CheckTrials, 'report'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.post(
      PATHS.trials,
      {
        config: { agent: true, gzip: true, manyValues: true },
        bodyLimit: MAX_BATCH_BYTES,
        schema: { body: trialReportSchema, response: { 200: trialResponseSchema } },
      },
      async (request) => ({ accepted: await checkTrials.report(agentOf(request), request.body) }),
    );
  };
}
