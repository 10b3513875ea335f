import { setMaxListeners } from 'node:events';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { pollRequestSchema, pollResponseSchema } from '../../wire/v1/poll.ts';
import { releaseRequestSchema, releaseResponseSchema } from '../../wire/v1/release.ts';
import { agentOf } from '../http/access/agent-access.ts';
import { whileClientWaits } from '../http/request-signal.ts';
import type { Agents } from './agents.ts';

/** The long poll of agents and the release of leases: src/service/README.md, "Leases and assignment". */
export function pollRoutes({
  agents,
  stopping,
}: {
  readonly agents: Pick<Agents, 'poll' | 'release'>;
  /** Aborts when the service stops: held polls then end at once. */
  readonly stopping: AbortSignal;
}): FastifyPluginAsync {
  // Each held poll adds a listener, and Node would warn of a leak from the eleventh on.
  setMaxListeners(0, stopping);
  const common = { config: { agent: true, gzip: true }, bodyLimit: MAX_REQUEST_BYTES } as const;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATHS.poll,
      {
        ...common,
        schema: { body: pollRequestSchema, response: { 200: pollResponseSchema } },
      },
      (request, reply) =>
        whileClientWaits(reply, stopping, (signal) =>
          agents.poll(agentOf(request), request.body, signal),
        ),
    );

    app.post(
      PATHS.release,
      {
        ...common,
        schema: { body: releaseRequestSchema, response: { 200: releaseResponseSchema } },
      },
      (request) => agents.release(agentOf(request), request.body),
    );
  };
}
