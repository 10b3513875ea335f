import type { FastifyInstance } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../runtime/clock.ts';
import { turnsFromNow } from '../../../runtime/event-loop.ts';
import { invalid } from '../../errors.ts';
import { addShaped, isLong, JsonAnswer } from '../json-answer.ts';
import { judge, type RequestPart } from '../problems.ts';

/**
 * Requests are judged and responses are shaped by the zod schemas of their route. A response that
 * does not fit its schema is a fault of ours (500), so nothing undeclared leaves the service.
 */
export function addSchemas(app: FastifyInstance, clock: Clock): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data: unknown) => {
    const judged = judge(schema, data, partOf(httpPart));
    return judged.ok ? { value: judged.value } : { error: invalid(judged.problems) };
  });
  app.setSerializerCompiler(serializerCompiler);
  addLongAnswers(app, clock);
}

/**
 * Shapes lists item by item, with other requests in between: a hundred checks or sessions may have
 * megabytes each, and what became of a batch of records is said of each.
 */
function addLongAnswers(app: FastifyInstance, clock: Clock): void {
  app.addHook('preSerialization', async ({ routeOptions }, reply, payload) => {
    const schema: unknown = Object(routeOptions.schema?.response)[reply.statusCode];
    if (!(schema instanceof z.ZodType) || !isLong(schema, payload)) return payload;
    const answer = new JsonAnswer();
    await addShaped(answer, schema, payload, turnsFromNow(clock));
    // It may be a stream, too, of which the types do not tell.
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
