import { setMaxListeners } from 'node:events';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import { type EventStreamParts, streamEvents } from './event-stream.ts';
import { eventSchema, presentEvent } from './present-event.ts';

/** Changes of an account: src/service/README.md, "Events". */
export function eventsRoutes(parts: EventStreamParts): FastifyPluginAsync {
  const { events, stopping } = parts;
  // Each stream adds a listener, and Node would warn of a leak from the eleventh on.
  setMaxListeners(0, stopping);
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/events',
      {
        config: { role: 'read', streamsEvents: true },
        schema: {
          tags: ['Events'],
          operationId: 'listEvents',
          summary: 'Follow the changes of the account as server-sent events, or list them',
          description:
            'With `Accept: text/event-stream` (or any type), the response is a stream, which `cursor` or `Last-Event-ID` resumes. Each event has the lines `id` (a cursor), `event` (its kind) and `data` (the JSON of an entry of the list). Otherwise the response is a list of the last two days, newest first.',
          querystring: z.strictObject(pageQuery),
          response: {
            200: z.array(eventSchema).describe('Events, newest first; or a stream of them.'),
          },
        },
      },
      async (request, reply) => {
        if (!/text\/event-stream|\*\/\*/.test(request.headers.accept ?? '')) {
          const { accountId } = callerOf(request);
          return (await events.list(accountId, pageOf(request, reply))).map(presentEvent);
        }
        await streamEvents(request, reply, parts);
        return reply;
      },
    );
  };
}
