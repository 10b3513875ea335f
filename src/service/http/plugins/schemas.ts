import type { FastifyInstance } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { invalid } from '../../errors.ts';
import { judge, type RequestPart } from '../problems.ts';

/**
 * Requests are judged and responses are shaped by the zod schemas of their route. A response that
 * does not fit its schema is a fault of ours (500), so nothing undeclared leaves the service.
 */
export function addSchemas(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data: unknown) => {
    const judged = judge(schema, data, partOf(httpPart));
    return judged.ok ? { value: judged.value } : { error: invalid(judged.problems) };
  });
  app.setSerializerCompiler(serializerCompiler);
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
