import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { releaseRequestSchema, releaseResponseSchema } from '../../wire/v1/release.ts';
import { agentOf } from '../http/access/agent-access.ts';
import type { Agents } from './agents.ts';

/** Agents that stop give their leases back here. */
export function releaseRoutes({
  agents,
}: {
  readonly agents: Pick<Agents, 'release'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.post(
      PATHS.release,
      {
        config: { agent: true, gzip: true },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { body: releaseRequestSchema, response: { 200: releaseResponseSchema } },
      },
      (request) => agents.release(agentOf(request), request.body),
    );
  };
}
