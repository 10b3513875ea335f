import type { FastifyInstance } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../runtime/clock.ts';
import { createYielder } from '../../../runtime/event-loop.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { StoreError } from '../../database/store-errors.ts';
import { invalid } from '../../errors.ts';
import { addShaped, isStreamed, JsonResponse, listIn } from '../json/json-response.ts';
import { bodyOfSlices, ListInSlices } from '../json/list-in-slices.ts';
import { type RequestPart, validate } from '../resources/problems.ts';

/**
 * Validates requests and shapes responses with the zod schemas of their route. A response that does not match
 * its schema is a bug (500): the service never sends fields that are not declared.
 */
export function addSchemas(
  app: FastifyInstance,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data: unknown) => {
    const judged = validate(schema, data, partOf(httpPart));
    return judged.ok ? { value: judged.value } : { error: invalid(judged.problems) };
  });
  app.setSerializerCompiler(serializerCompiler);
  addListsInSlices(app, clock, log);
  addLongResponses(app, clock);
}

/** Sends lists in slices. */
function addListsInSlices(app: FastifyInstance, clock: Clock, log: Logger): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (!(payload instanceof ListInSlices)) return payload;
    const { url: route, schema } = request.routeOptions;
    const list = listIn(Object(schema?.response)[reply.statusCode]);
    if (list === null) throw new Error(`the answer of ${route} is declared as something else`);
    const body = await bodyOfSlices(payload, {
      items: list.items,
      yieldWhenDue: createYielder(clock),
      onBreak: (err) => {
        const level = err instanceof StoreError && err.kind === 'unavailable' ? 'warn' : 'error';
        log[level]({ err, requestId: request.id, route }, 'an answer was aborted half-way');
      },
    });
    // It may be a stream, too, which the types do not allow.
    reply.serializer((() => body) as () => string);
    return payload;
  });
}

/**
 * Shapes lists item by item, and yields to other requests in between: each of a hundred checks or sessions may
 * have megabytes, and the response to a batch has an item for each record.
 */
function addLongResponses(app: FastifyInstance, clock: Clock): void {
  app.addHook('preSerialization', async ({ routeOptions }, reply, payload) => {
    const schema: unknown = Object(routeOptions.schema?.response)[reply.statusCode];
    if (!(schema instanceof z.ZodType) || !isStreamed(schema, payload)) return payload;
    const answer = new JsonResponse();
    await addShaped(answer, schema, payload, createYielder(clock));
    // It may be a stream, too, which the types do not allow.
    reply.serializer((() => answer.body(reply)) as () => string);
    return payload;
  });
}

function partOf(httpPart: string | undefined): RequestPart {
  switch (httpPart) {
    case 'params':
    case 'querystring':
    case 'headers':
      return httpPart;
    default:
      return 'body';
  }
}
