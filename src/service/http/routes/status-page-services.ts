import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { statusPageServiceSchema } from '../../../model/status-page.ts';
import type { StatusPageServices, StoredService } from '../../features/status-pages/services.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, pageQuery, uuidParam } from './parameters.ts';
import { ignored, optionalFieldsOf } from './resource-schemas.ts';

const TAGS = ['Status pages'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/status-pages/services';

const params = z.object({ serviceId: uuidParam });
const changes = z.strictObject({
  ...optionalFieldsOf(statusPageServiceSchema.shape),
  ...ignored(['accountId', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});

/** The two dates of spec 2.8, which has them as days and never null. */
export const DAYS = {
  created_at: z.iso.date().describe('The day, in UTC.'),
  updated_at: z.iso.date().describe('The day, in UTC; that of its creation until it changes.'),
};

/** How spec 2.8 has a service, by itself and on a card. */
export const serviceResponse = statusPageServiceSchema.extend({
  id: z.string(),
  accountId: z.string(),
  ...DAYS,
});

/** Services that cards of status pages show and incidents concern. */
export function statusPageServicesRoutes({
  statusPageServices,
}: {
  readonly statusPageServices: StatusPageServices;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create a service',
          body: statusPageServiceSchema,
          response: { 201: serviceResponse },
        },
      },
      async (request, reply) => {
        const created = await statusPageServices.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentService(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List services, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(serviceResponse) },
        },
      },
      async (request) => {
        const found = await statusPageServices.list(callerOf(request).accountId, request.query);
        return found.map(presentService);
      },
    );

    app.get(
      `${PATH}/:serviceId`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read a service',
          params,
          response: { 200: serviceResponse },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return presentService(await statusPageServices.read(accountId, request.params.serviceId));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:serviceId`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update a service',
        description: 'Fields that are left out stay as they are.',
        params,
        body: changes,
        response: { 200: serviceResponse },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { serviceId } = request.params;
        return presentService(await statusPageServices.update(accountId, serviceId, request.body));
      },
    });

    app.delete(
      `${PATH}/:serviceId`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete a service that no open incident names; cards and past incidents lose it',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await statusPageServices.remove(callerOf(request).accountId, request.params.serviceId);
        return reply.code(204).send(null);
      },
    );
  };
}

export function presentService(service: StoredService): z.output<typeof serviceResponse> {
  return {
    ...service.fields,
    id: service.id,
    accountId: service.accountId,
    ...presentDays(service),
  };
}

export function presentDays({
  createdAt,
  updatedAt,
}: {
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
}): z.output<z.ZodObject<typeof DAYS>> {
  return { created_at: dayOf(createdAt), updated_at: dayOf(updatedAt ?? createdAt) };
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
