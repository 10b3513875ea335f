import { setMaxListeners } from 'node:events';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { callerOf } from '../http/access/authentication.ts';
import { weightsIn } from '../http/header-weights.ts';
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
            'If `Accept` names `text/event-stream`, with at least the weight of `application/json`, the response is a stream, which `cursor` or `Last-Event-ID` resumes, without `limit` and `page` (400). It begins with a frame without data, whose `id` is the cursor from which it continues. Each event then has the lines `id` (a cursor), `event` (its kind) and `data` (the JSON of an entry of the list). Otherwise, also with `*/*`, the response is a list of the last two days, newest first.',
          querystring: z.strictObject(pageQuery),
          response: {
            200: z.array(eventSchema).describe('Events, newest first; or a stream of them.'),
          },
        },
      },
      async (request, reply) => {
        if (!prefersStream(request.headers.accept ?? '')) {
          const { accountId } = callerOf(request);
          return (await events.list(accountId, pageOf(request, reply))).map(presentEvent);
        }
        refuseListParameters(request.url);
        await streamEvents(request, reply, parts);
        return reply;
      },
    );
  };
}

/**
 * Whether the client accepts server-sent events explicitly and does not prefer JSON (RFC 9110 12.5.1). Most
 * programs accept any type in every request, and would wait for the end of a stream.
 */
function prefersStream(accept: string): boolean {
  const weights = weightsIn(accept);
  const stream = weights.get('text/event-stream') ?? 0;
  const list =
    weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return stream > 0 && stream >= list;
}

/** @throws ServiceError 400 for parameters that a stream would ignore */
function refuseListParameters(url: string): void {
  const { searchParams } = new URL(url, 'http://service');
  const given = ['limit', 'page'].filter((name) => searchParams.has(name));
  if (given.length === 0) return;
  throw invalid(
    given.map((name) => ({
      path: `query.${name}`,
      message: 'must be omitted: a stream has no pages',
    })),
  );
}
