import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { HEARTBEAT_STATES } from '../../model/heartbeat/heartbeat-machine.ts';
import { callerOf } from '../http/access/authentication.ts';
import { checkId, READ } from '../http/resources/check-parameters.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { askedWindow, windowQuery } from '../http/resources/window-parameters.ts';
import type { EventWithStats, HeartbeatEvent, HeartbeatEvents } from './events.ts';

const TAGS = ['Heartbeats'];
const PATH = '/v1/checks/heartbeats/:checkId/events';

const event = z.strictObject({
  id: z.string(),
  state: z
    .enum(HEARTBEAT_STATES)
    .describe(
      '`EARLY`: a ping within half a period of the one before. `RECEIVED`: in time. `GRACE`: within the grace. `LATE`: after it. `FAILING`: no ping, and the grace is over.',
    ),
  timestamp: z.iso.datetime(),
  source: z.string().describe('What asked, and from where; of `FAILING`, that nothing did.'),
  userAgent: z.string().describe('Of the request; empty where it said none.'),
});
const entry = event.extend({
  pings: z
    .int()
    .min(0)
    .describe(
      'How many pings it stands for: those of an hour that are early, and those of one second, are one event.',
    ),
});

/** src/service/README.md, "Heartbeats". */
const stats = z.strictObject({
  successRatio: z.strictObject({
    previousPeriod: z.number().describe('Percent, of the same time before.'),
    currentPeriod: z.number().describe('Percent of the events that are not `FAILING`, up to now.'),
  }),
  totalEntitiesCurrentPeriod: z.number().describe('Events.'),
});
const response = z.strictObject({
  event,
  stats: z.strictObject({ last24Hours: stats, last7Days: stats }),
});

const listQuery = z.strictObject({
  ...pageQuery,
  from: windowQuery.from.describe(
    'UNIX timestamp in seconds (or milliseconds), inclusive; left out, from the oldest on.',
  ),
  to: windowQuery.to.describe(
    'UNIX timestamp in seconds (or milliseconds), exclusive; left out, to the newest.',
  ),
});

/** Heartbeat events: src/service/README.md, "Heartbeats". */
export function heartbeatEventsRoutes({
  heartbeatEvents,
}: {
  readonly heartbeatEvents: HeartbeatEvents;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List the events of a heartbeat check, newest first',
          params: z.object({ checkId }),
          querystring: listQuery,
          response: { 200: z.array(entry) },
        },
      },
      async (request) => {
        const { limit, page, ...window } = request.query;
        const found = await heartbeatEvents.list(
          callerOf(request).accountId,
          request.params.checkId,
          { limit, page, ...askedWindow(window) },
        );
        return found.map((each) => ({ ...presentEvent(each), pings: each.pings }));
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read an event of a heartbeat check, with recent statistics of the check',
          params: z.object({ checkId, id: uuidParam }),
          response: { 200: response },
        },
      },
      async (request) => {
        const { checkId, id } = request.params;
        const found = await heartbeatEvents.read(callerOf(request).accountId, checkId, id);
        return presentEventWithStats(found);
      },
    );
  };
}

function presentEvent({ id, state, at, source, userAgent }: HeartbeatEvent) {
  return { id, state, timestamp: at.toISOString(), source, userAgent };
}

function presentEventWithStats({ event, stats }: EventWithStats): z.output<typeof response> {
  return { event: presentEvent(event), stats };
}
