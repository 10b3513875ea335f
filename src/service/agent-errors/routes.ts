import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { idOf, numberIdOf } from '../http/resources/shown-fields.ts';
import {
  type AgentError,
  type AgentErrors,
  MAX_AGENT_ERRORS,
  MAX_ERRORS_PER_AGENT,
} from './agent-errors.ts';

const fields = {
  id: numberIdOf('the entry'),
  agentId: idOf('the agent'),
  version: z.string().describe('The version of the agent.'),
  node: z.string().describe('The version of Node.js.'),
  platform: z.string().describe('The operating system, such as linux.'),
  arch: z.string().describe('The architecture, such as x64.'),
  class: z.string().describe('The class of the error, such as TypeError.'),
  code: z.string().nullable().describe('The code of the error; null for none.'),
  stack: z.array(z.unknown()).describe('Frames, the innermost one first.'),
  count: z.number().describe('How often it happened from firstSeen to lastSeen.'),
  firstSeen: z.iso.datetime().describe('When it happened first.'),
  lastSeen: z.iso.datetime().describe('When it happened last.'),
  receivedAt: z.iso.datetime().describe('When the service received the report.'),
};
const OLD_NAMES = ['firstAt', 'lastAt', 'received_at'] as const;
const response = z.strictObject(alsoAs(fields, ...OLD_NAMES));

/** What the agents of a location report of their own errors, for users to see. */
export function locationAgentErrorsRoutes(features: {
  readonly agentErrors: Pick<AgentErrors, 'list'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.get(
      '/v1/private-locations/:id/agent-errors',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Private locations'],
          operationId: 'listLocationAgentErrors',
          summary: "List the errors of a location's agents, newest first",
          description: `Errors of the agents themselves, not of checks. Retains the newest ${MAX_ERRORS_PER_AGENT} of each agent and ${MAX_AGENT_ERRORS} of each location.`,
          params: z.object({ id: uuidParam }),
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await features.agentErrors.list(
          accountId,
          request.params.id,
          pageOf(request, reply),
        );
        return found.map(present);
      },
    );
  };
}

function present({
  firstAt,
  lastAt,
  receivedAt,
  stack,
  ...error
}: AgentError): z.output<typeof response> {
  const shown = {
    ...error,
    stack: [...stack],
    firstSeen: firstAt.toISOString(),
    lastSeen: lastAt.toISOString(),
    receivedAt: receivedAt.toISOString(),
  };
  return withOldNames(shown, ...OLD_NAMES);
}
