import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import type { LocationStatus, PrivateLocations } from './private-locations.ts';

const TAGS = ['Private locations'];
const READ = { role: 'read' } as const;
const PATH = '/v1/private-location-statuses';

const STATES = ['online', 'silent', 'idle', 'new'] as const;

const response = z
  .strictObject({
    id: z.string().describe('The id of the location.'),
    slug: z.string().describe('The name of the location in checks.'),
    name: z.string().describe('The name of the location for people.'),
    state: z
      .enum(STATES)
      .describe(
        'online: an agent polls; silent: none polls any more, so its checks do not run; idle: none polls any more, and it has no checks; new: it never had an agent.',
      ),
    silentSince: z.iso
      .datetime()
      .nullable()
      .describe('The last poll of an agent of a silent location; null in other states.'),
    lastSeen: z.iso
      .datetime()
      .nullable()
      .describe('The last poll of any of its agents; null if it never had one.'),
    agents: z
      .strictObject({
        live: z.int().describe('Agents that poll.'),
        known: z.int().describe('Also ended agents and, for a month, those that are gone.'),
      })
      .describe('How many agents the location has.'),
    versions: z.array(z.string()).describe('Of the agents that poll.'),
    checks: z.int().describe('Checks that run in the location.'),
    unassignedChecks: z.int().describe('Those that no agent runs at the moment.'),
    missedSlots: z.int().describe('Slots of the last 24 hours that were not run in the location.'),
    maxLatenessMs: z
      .int()
      .nullable()
      .describe(
        'How late the latest run of the last five minutes began, in milliseconds, as reported by the agents; null if none reports it.',
      ),
    clockAheadMs: z
      .int()
      .nullable()
      .describe(
        "How far the clock of the agent that is off by most is ahead of the service's, in milliseconds; negative if it is behind.",
      ),
    spoolRecords: z
      .int()
      .nullable()
      .describe('Records that wait at its agents for the service; null if none reports it.'),
    spoolOldestMs: z
      .int()
      .nullable()
      .describe('How long the oldest of them has waited, in milliseconds; null if none waits.'),
  })
  .meta({ title: 'PrivateLocationStatus' });

/** The state of the agents of private locations: src/service/README.md, "Private locations and agents". */
export function locationStatusesRoutes({
  privateLocations,
}: {
  readonly privateLocations: Pick<PrivateLocations, 'status' | 'statuses'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listPrivateLocationStatuses',
          summary: 'List how the agents of each private location are, oldest location first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await privateLocations.statuses(accountId, pageOf(request, reply));
        return found.map(present);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getPrivateLocationStatus',
          summary: 'Read how the agents of a private location are',
          params: z.object({ id: uuidParam }),
          response: { 200: response },
        },
      },
      async (request) => present(await privateLocations.status(keyOf(request))),
    );
  };
}

function present(status: LocationStatus): z.output<typeof response> {
  const { liveAgents, knownAgents, lastSeenAt, silentSince, versions, ...rest } = status;
  const state = stateOf(status);
  return {
    ...rest,
    state,
    // The row of the silence is written up to a minute later.
    silentSince: state === 'silent' ? ((silentSince ?? lastSeenAt)?.toISOString() ?? null) : null,
    lastSeen: lastSeenAt?.toISOString() ?? null,
    agents: { live: liveAgents, known: knownAgents },
    versions: versions.toSorted(),
  };
}

/** Ignores the row of a silence that is out of date: it is deleted at the next scan after an agent has polled. */
function stateOf(status: LocationStatus): (typeof STATES)[number] {
  if (status.liveAgents > 0) return 'online';
  if (status.silentSince !== null) return 'silent';
  if (status.lastSeenAt === null) return 'new';
  return status.checks > 0 ? 'silent' : 'idle';
}
