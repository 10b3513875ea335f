import { once } from 'node:events';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { StoreError } from '../../../src/service/database/store-errors.ts';
import { conflict, notFound } from '../../../src/service/errors.ts';
import { callerOf } from '../../../src/service/http/app.ts';
import { clientGoneSignal } from '../../../src/service/http/request-signal.ts';

const THING = z.strictObject({
  name: z.string().min(1).max(20),
  kind: z.enum(['URL', 'TCP']),
  password: z.string().min(8).optional(),
  request: z.strictObject({ port: z.int().min(1).max(65_535) }).optional(),
  tags: z.array(z.string()).max(3).default([]),
});
const QUERY = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(10),
});

/** Errors of features, by the last segment of the path. */
const FAULTS: Readonly<Record<string, () => unknown>> = {
  missing: () => notFound('check'),
  conflict: () => conflict('The slug is taken', { slug: 'shop' }),
  fault: () => new Error('the password of the database is hunter2'),
  text: () => 'a text thrown',
  'store-away': () => new StoreError('unavailable', 'STORE_CONNECTION', 'refused by 10.1.2.3'),
  'store-conflict': () => new StoreError('conflict', 'STORE_UNIQUE', 'checks_pkey'),
  'store-invalid': () => new StoreError('invalid', 'STORE_VALUE', 'null byte'),
};

/**
 * Routes like those of the API, one of each kind.
 *
 * @param onWaiting called when a request that is never answered waits
 */
export function thingRoutes(onWaiting: () => void = () => {}): FastifyPluginAsync {
  return async (plugin) => {
    const app = plugin.withTypeProvider<ZodTypeProvider>();
    app.get(
      '/v1/things',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Things'],
          summary: 'Lists <things>',
          querystring: QUERY,
          response: { 200: z.object({ limit: z.number(), caller: z.string() }) },
        },
      },
      async (request) => ({ limit: request.query.limit, caller: callerOf(request).by.id }),
    );
    app.post(
      '/v1/things',
      {
        config: { role: 'write' },
        schema: {
          operationId: 'createThing',
          tags: ['Things'],
          body: THING,
          response: { 201: THING },
        },
      },
      async (request, reply) => reply.code(201).send(request.body),
    );
    app.get(
      '/v1/things/:id',
      {
        config: { role: 'read' },
        schema: {
          params: z.object({
            id: z
              .string()
              .max(40)
              .regex(/^[a-z-]+$/),
          }),
        },
      },
      async (request) => {
        throw FAULTS[request.params.id]?.() ?? notFound('thing');
      },
    );
    app.delete(
      '/v1/things/:id',
      { config: { role: 'admin' }, schema: { params: z.object({ id: z.string() }) } },
      async (_request, reply) => reply.code(204).send(),
    );
    app.get('/v1/leak', {
      config: { role: 'read' },
      schema: { response: { 200: z.object({ shown: z.string() }) } },
      handler: async () => ({ shown: 'a', keyHash: 'not to be seen' }),
    });
    app.post('/v1/endless', {
      config: { role: 'read' },
      handler: async (_request, reply) => {
        onWaiting();
        const gone = clientGoneSignal(reply);
        await once(gone, 'abort');
        throw gone.reason;
      },
    });
    app.get('/v1/few', {
      config: { role: 'read', rateLimit: { max: 2 } },
      handler: async () => 'ok',
    });
  };
}
