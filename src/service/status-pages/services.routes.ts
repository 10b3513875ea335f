import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { serviceIdSchema, statusPageServiceSchema } from '../../model/status-page/status-page.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { asShown, idOf } from '../http/resources/shown-fields.ts';
import type { CardService, StatusPageServices, StoredService } from './services.ts';

const changes = z.strictObject({
  ...optionalFieldsOf(statusPageServiceSchema.shape),
  ...ignored(['accountId', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});

/** src/service/README.md, "Status pages and incidents": days, and never null. */
export const DAYS = {
  created_at: z.iso.date().describe('The day, in UTC.'),
  updated_at: z.iso.date().describe('The day, in UTC; that of its creation until it changes.'),
};

const serviceResponse = statusPageServiceSchema.extend({
  id: asShown(serviceIdSchema),
  accountId: idOf('the account'),
  ...DAYS,
});

/** A service on a card, without what measures it. */
export const cardServiceResponse = serviceResponse.pick({
  name: true,
  id: true,
  accountId: true,
  created_at: true,
  updated_at: true,
});

/** The services that cards of status pages show and incidents name. */
export function statusPageServicesRoutes({
  statusPageServices,
}: {
  readonly statusPageServices: StatusPageServices;
}): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/status-pages/services',
    resource: 'StatusPageService',
    tag: 'Status pages',
    changing: { role: 'write' },
    id: { name: 'serviceId', schema: uuidParam },
    query: z.strictObject(pageQuery),
    body: statusPageServiceSchema,
    changes,
    response: serviceResponse,
    texts: {
      create: { summary: 'Create a service' },
      list: { summary: 'List services, oldest first' },
      read: { summary: 'Read a service' },
      update: {
        summary: 'Update a service',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole.',
      },
      remove: {
        summary:
          'Delete a service that no open incident names; cards and past incidents no longer name it',
      },
    },
    feature: statusPageServices,
    present: presentService,
  });
}

function presentService(service: StoredService): z.output<typeof serviceResponse> {
  const { createdAt: _, updatedAt: __, ...fields } = service;
  return {
    ...fields,
    checkIds: [...fields.checkIds],
    checkTags: [...fields.checkTags],
    heartbeatIds: [...fields.heartbeatIds],
    ...presentDays(service),
  };
}

export function presentCardService(service: CardService): z.output<typeof cardServiceResponse> {
  const { id, accountId, name } = service;
  return { id, accountId, name, ...presentDays(service) };
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
