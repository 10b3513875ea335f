import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { handoverRequestSchema, handoverResponseSchema } from '../../wire/v1/handover.ts';
import { MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { agentOf } from '../http/access/agent-access.ts';
import type { CheckRuns } from './check-runs.ts';

/** Agents hand retries over here: src/service/README.md, "Retries in other locations". */
export function handoversRoutes({
  checkRuns,
}: {
  readonly checkRuns: Pick<CheckRuns, 'handover'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.post(
      PATHS.handovers,
      {
        config: { agent: true },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { body: handoverRequestSchema, response: { 200: handoverResponseSchema } },
      },
      (request) => checkRuns.handover(agentOf(request), request.body),
    );
  };
}
