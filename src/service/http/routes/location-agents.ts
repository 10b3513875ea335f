import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Agents, KnownAgent } from '../../features/agents.ts';
import { callerOf } from '../plugins/authentication.ts';
import { pageQuery, uuidParam } from './parameters.ts';

const response = z.strictObject({
  id: z.string().describe('The agent keeps it in its DATA_DIR.'),
  version: z.string(),
  live: z.boolean().describe('It polled lately, and runs its checks.'),
  checks: z.int().describe('How many checks of the location it runs.'),
  running: z.int().describe('Runs in progress when it last polled.'),
  queued: z.int().describe('Runs that waited for a place by then.'),
  concurrency: z.int().describe('Runs that it does at once; its share of the checks goes by it.'),
  capabilities: z.strictObject({
    types: z.array(z.string()),
    ipv6: z.boolean().describe('It has a route to IPv6.'),
    icmp: z.boolean().describe('It may open an ICMP socket.'),
    capture: z.boolean().describe('It may capture packets.'),
  }),
  refused: z
    .array(z.strictObject({ checkId: z.string(), problem: z.string() }))
    .describe('Checks that are its own and that it cannot read; 100 at most are named.'),
  clockAheadMs: z
    .int()
    .nullable()
    .describe(
      "How far its clock is ahead of the service's, in milliseconds; below 0 it is behind. null where it does not say.",
    ),
  lease_until: z.iso
    .datetime()
    .nullable()
    .describe('When its checks go to others unless it polls again; null where they have.'),
  first_seen_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
});

/** The agents that poll for a private location. */
export function locationAgentsRoutes({
  agents,
}: {
  readonly agents: Pick<Agents, 'list'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.get(
      '/v1/private-locations/:id/agents',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Private locations'],
          summary: 'List the agents of a private location, those that came first, first',
          description: 'Also those that are gone; they are forgotten after a month.',
          params: z.object({ id: uuidParam }),
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const found = await agents.list(accountId, request.params.id, request.query);
        return found.map(presentAgent);
      },
    );
  };
}

function presentAgent({
  leaseUntil,
  firstSeenAt,
  lastSeenAt,
  capabilities: { types, ipv6, icmp, capture },
  refused,
  ...agent
}: KnownAgent): z.output<typeof response> {
  return {
    ...agent,
    capabilities: { types, ipv6, icmp, capture },
    refused: refused.map(({ checkId, problem }) => ({ checkId, problem })),
    lease_until: leaseUntil?.toISOString() ?? null,
    first_seen_at: firstSeenAt.toISOString(),
    last_seen_at: lastSeenAt.toISOString(),
  };
}
