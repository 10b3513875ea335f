import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { id as agentId } from '../../wire/v1/fields.ts';
import { callerOf } from '../http/access/authentication.ts';
import type { AuditedResource } from '../http/plugins/audit.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { WHOLE_LIST } from '../http/resources/paging.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import type { Agents, ListedAgent } from './agents.ts';

const TAGS = ['Private locations'];
const PATH = '/v1/private-locations/:id/agents';
const CHANGING = { role: 'write' } as const;

const fields = {
  id: z.string().describe('The agent saves it in its DATA_DIR.'),
  version: z.string().describe('The version of the agent.'),
  live: z.boolean().describe('It polled recently, and runs its checks.'),
  checks: z.int().describe('How many checks of the location it runs.'),
  running: z.int().describe('Runs in progress when it last polled.'),
  queued: z.int().describe('Runs that waited for a permit when it last polled.'),
  concurrency: z.int().describe('How many runs it does at once, as it reports.'),
  countedConcurrency: z
    .int()
    .describe(
      'The concurrency that determines its share of the checks, at most MAX_AGENT_CONCURRENCY of the service.',
    ),
  capabilities: z
    .strictObject({
      types: z.array(z.string()).describe('The types of checks that it can run.'),
      ipv6: z.boolean().describe('It has a route to IPv6.'),
      icmp: z.boolean().describe('It may open an ICMP socket.'),
      capture: z.boolean().describe('It may capture packets.'),
      trials: z.boolean().describe('It can try checks that are not saved.'),
      features: z
        .array(z.string())
        .describe('Settings of checks that it knows, and agents of earlier releases do not.'),
    })
    .describe('What it can do, as it reports.'),
  refused: z
    .array(
      z.strictObject({
        checkId: SHOWN_CHECK.checkId,
        problem: z.string().describe('What it cannot read.'),
      }),
    )
    .describe('Checks and runs that it got and cannot read, at most 100.'),
  clockAheadMs: z
    .int()
    .nullable()
    .describe(
      "How far its clock is ahead of the service's, in milliseconds; negative if it is behind, null if it does not report this.",
    ),
  health: z
    .strictObject({
      maxLatenessMs: z
        .int()
        .nullable()
        .describe(
          'How long after its slot the latest run of the last five minutes began, in milliseconds; null if none began.',
        ),
      missedSlots: z.int().describe('Slots that it recorded as missed since its start.'),
      spoolRecords: z
        .int()
        .describe('Results, missed slots and artifacts that wait for the service.'),
      spoolBytes: z.int().describe('Their size in bytes.'),
      spoolOldestMs: z
        .int()
        .nullable()
        .describe('How long the oldest of them has waited, in milliseconds; null if none waits.'),
    })
    .nullable()
    .describe('What it reported with its last poll; null if it does not report this.'),
  leaseUntil: z.iso
    .datetime()
    .nullable()
    .describe('When its checks move to others unless it polls again; null once they have moved.'),
  firstSeen: z.iso.datetime().describe('The time of its first poll.'),
  lastSeen: z.iso.datetime().describe('The time of its last poll that was not refused.'),
  endedAt: z.iso
    .datetime()
    .nullable()
    .describe('When it was ended by a DELETE; null for an agent that may poll.'),
};
const OLD_NAMES = ['lease_until', 'first_seen_at', 'last_seen_at', 'ended_at'] as const;
const response = z.strictObject(alsoAs(fields, ...OLD_NAMES));
const params = z.object({ id: uuidParam });
const agentParams = params.extend({ agentId: agentId.describe('The id of the agent.') });

/** The agents that poll for a private location. */
export function locationAgentsRoutes({
  agents,
}: {
  readonly agents: Pick<Agents, 'list' | 'end' | 'allow'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    const of: AuditedResource = {
      idName: 'agentId',
      show: async (accountId, { id, agentId }) => {
        const found = await agents.list(accountId, String(id), WHOLE_LIST);
        const agent = found.find((each) => each.id === agentId);
        if (agent === undefined) return null;
        const { version, endedAt } = presentAgent(agent);
        return { name: agent.id, version, endedAt };
      },
    };
    app.get(
      PATH,
      {
        config: { role: 'read' },
        schema: {
          tags: TAGS,
          operationId: 'listLocationAgents',
          summary: 'List the agents of a private location, oldest first',
          description: 'Includes ended agents, and agents that are gone, for a month.',
          params,
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await agents.list(accountId, request.params.id, pageOf(request, reply));
        return found.map(presentAgent);
      },
    );

    app.delete(
      `${PATH}/:agentId`,
      {
        config: { ...CHANGING, audit: { of, action: 'end' } },
        schema: {
          tags: TAGS,
          operationId: 'deleteLocationAgent',
          summary: 'End an agent: its checks move to the others, and its polls are refused',
          description:
            'It stays in the list, with the time in `endedAt`, until it is allowed again. The service still accepts its results: to block them, revoke the key.',
          params: agentParams,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { id, agentId } = request.params;
        await agents.end(callerOf(request).accountId, id, agentId);
        return reply.code(204).send(null);
      },
    );

    app.post(
      `${PATH}/:agentId/allow`,
      {
        config: { ...CHANGING, audit: { of, action: 'allow' } },
        schema: {
          tags: TAGS,
          operationId: 'allowLocationAgent',
          summary: 'Let an ended agent poll again',
          description: 'The agent retries every few minutes, and at once after a restart.',
          params: agentParams,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { id, agentId } = request.params;
        await agents.allow(callerOf(request).accountId, id, agentId);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentAgent({
  leaseUntil,
  firstSeenAt,
  lastSeenAt,
  endedAt,
  capabilities: { types, ipv6, icmp, capture, trials, features = [] },
  refused,
  ...agent
}: ListedAgent): z.output<typeof response> {
  const shown = {
    ...agent,
    capabilities: { types, ipv6, icmp, capture, trials: trials === true, features },
    refused: refused.map(({ checkId, problem }) => ({ checkId, problem })),
    leaseUntil: leaseUntil?.toISOString() ?? null,
    firstSeen: firstSeenAt.toISOString(),
    lastSeen: lastSeenAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
  return withOldNames(shown, ...OLD_NAMES);
}
