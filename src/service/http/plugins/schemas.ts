import type { FastifyInstance } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../runtime/clock.ts';
import { turnsFromNow } from '../../../runtime/event-loop.ts';
import { invalid } from '../../errors.ts';
import { listAnswer } from '../list-answer.ts';
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
  addListAnswers(app, clock);
}

/**
 * Shapes lists item by item, with other requests in between: a hundred checks or sessions may have
 * megabytes each.
 */
function addListAnswers(app: FastifyInstance, clock: Clock): void {
  const serializers = new WeakMap<z.ZodType, (item: unknown) => string>();
  app.addHook('preSerialization', async ({ method, url, routeOptions }, reply, payload) => {
    const schema = itemSchemaOf(routeOptions.schema?.response, reply.statusCode);
    if (schema === null || !Array.isArray(payload)) return payload;
    const serialize = serializers.get(schema) ?? serializerCompiler({ schema, method, url });
    serializers.set(schema, serialize);
    const turn = turnsFromNow(clock);
    const items: string[] = [];
    for (const item of payload) {
      items.push(serialize(item));
      await turn();
    }
    // It may be a stream, too, of which the types do not tell.
    reply.serializer((() => listAnswer(reply, items)) as () => string);
    return payload;
  });
}

/** null where the answer is no list, or one with a rule of its own. */
function itemSchemaOf(responses: unknown, status: number): z.ZodType | null {
  const schema: unknown = Object(responses)[status];
  if (!(schema instanceof z.ZodArray) || schema.def.checks !== undefined) return null;
  return schema.element instanceof z.ZodType ? schema.element : null;
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
