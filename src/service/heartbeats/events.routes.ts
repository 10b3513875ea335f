import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import { parseWindow, windowQuery } from '../http/resources/window-parameters.ts';
import type { EventWithStats, HeartbeatEvent, HeartbeatEvents } from './events.ts';
import { HEARTBEAT_STATES } from './heartbeat-state-machine.ts';

const TAGS = ['Heartbeats'];
const PATH = '/v1/checks/heartbeats/:checkId/events';

const event = z.strictObject({
  id: idOf('the event'),
  state: z
    .enum(HEARTBEAT_STATES)
    .describe(
      '`EARLY`: a ping within half a period after the one before. `RECEIVED`: in time. `GRACE`: within the grace. `LATE`: after the grace. `FAILING`: no ping until the end of the grace.',
    ),
  timestamp: z.iso.datetime().describe('When the ping arrived, or the heartbeat failed.'),
  source: z
    .string()
    .describe('The method and the address of the ping; for `FAILING`, that there was none.'),
  userAgent: z.string().describe('The User-Agent of the ping; empty if it had none.'),
});
const entry = event
  .extend({
    pings: z
      .int()
      .min(0)
      .describe(
        'The number of pings: early pings within an hour, and all pings within a second, are one event.',
      ),
  })
  .meta({ title: 'HeartbeatEvent' });

/** src/service/README.md, "Heartbeats". */
const stats = z.strictObject({
  successRatio: z
    .strictObject({
      previousPeriod: z.number().describe('Percent, in the period of equal length before.'),
      currentPeriod: z.number().describe('Percent of events that are not `FAILING`, up to now.'),
    })
    .describe('The share of events that are not `FAILING`.'),
  totalEntitiesCurrentPeriod: z.number().describe('The number of events in the current period.'),
});
const response = z
  .strictObject({
    event: event.describe('The event.'),
    stats: z
      .strictObject({
        last24Hours: stats.describe('The last 24 hours.'),
        last7Days: stats.describe('The last 7 days.'),
      })
      .describe('The events of the heartbeat until now.'),
  })
  .meta({ title: 'HeartbeatEventWithStats' });

const listQuery = z.strictObject({
  ...pageQuery,
  from: windowQuery.from.describe(
    'UNIX timestamp in seconds (or milliseconds), inclusive; if omitted, from the oldest on.',
  ),
  to: windowQuery.to.describe(
    'UNIX timestamp in seconds (or milliseconds), exclusive; if omitted, to the newest.',
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
          operationId: 'listHeartbeatEvents',
          summary: 'List the events of a heartbeat check, newest first',
          params: z.object({ checkId }),
          querystring: listQuery,
          response: { 200: z.array(entry) },
        },
      },
      async (request, reply) => {
        const found = await heartbeatEvents.list(
          callerOf(request).accountId,
          request.params.checkId,
          { ...pageOf(request, reply), ...parseWindow(request.query) },
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
          operationId: 'getHeartbeatEvent',
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
