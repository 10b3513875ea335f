import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { changedStatusPageSchema, statusPageSchema } from '../../../model/status-page.ts';
import { SERVICE_STATES } from '../../../model/status-page-incident.ts';
import type { StatusPages, StoredPage } from '../../features/status-pages/status-pages.ts';
import type { StatusPageSummaries } from '../../features/status-pages/summary.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, pageQuery, uuidParam } from './parameters.ts';
import { optionalFieldsOf } from './resource-schemas.ts';
import { incidentResponse, presentIncident } from './status-page-incidents.ts';
import { DAYS, presentDays, presentService, serviceResponse } from './status-page-services.ts';

const TAGS = ['Status pages'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/status-pages';

const params = z.object({ statusPageId: uuidParam });
const changes = z.strictObject({
  ...optionalFieldsOf(changedStatusPageSchema.shape),
  id: z.string().optional().describe('The same as in the path.'),
});
const card = z.strictObject({
  id: z.string(),
  name: z.string(),
  ...DAYS,
  services: z.array(serviceResponse),
});
const response = statusPageSchema.extend({ id: z.string(), cards: z.array(card) });

const state = z.enum(SERVICE_STATES).describe('The worst of the open incidents that concern it.');
const summaryResponse = z.strictObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  state: z.enum(SERVICE_STATES).describe('The worst of its services.'),
  cards: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      services: z.array(z.strictObject({ id: z.string(), name: z.string(), state })),
    }),
  ),
  incidents: z
    .array(incidentResponse)
    .describe('The open ones, newest first, 100 at most, each with its first update.'),
});

/** Status pages with their cards: spec 2.8 and 4.7. */
export function statusPagesRoutes(features: {
  readonly statusPages: StatusPages;
  readonly statusPageSummaries: StatusPageSummaries;
}): FastifyPluginAsync {
  const { statusPages, statusPageSummaries } = features;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create a status page with its cards',
          body: statusPageSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await statusPages.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentPage(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List status pages, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const pages = await statusPages.list(callerOf(request).accountId, request.query);
        return pages.map(presentPage);
      },
    );

    app.get(
      `${PATH}/:statusPageId`,
      {
        config: READ,
        schema: { tags: TAGS, summary: 'Read a status page', params, response: { 200: response } },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return presentPage(await statusPages.read(accountId, request.params.statusPageId));
      },
    );

    app.get(
      `${PATH}/:statusPageId/summary`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'How the services of a status page are doing, and its open incidents',
          params,
          response: { 200: summaryResponse },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const found = await statusPageSummaries.read(accountId, request.params.statusPageId);
        return {
          ...found,
          cards: found.cards.map(({ services, ...rest }) => ({ ...rest, services: [...services] })),
          incidents: found.incidents.map(presentIncident),
        };
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:statusPageId`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update a status page',
        description:
          'Fields that are left out stay as they are; each that is given replaces the stored one whole. Cards keep their ids: by the id that is given, or without one by the name.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { statusPageId } = request.params;
        return presentPage(await statusPages.update(accountId, statusPageId, request.body));
      },
    });

    app.delete(
      `${PATH}/:statusPageId`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete a status page with its cards; the services stay',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await statusPages.remove(callerOf(request).accountId, request.params.statusPageId);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentPage({ id, fields, cards }: StoredPage): z.output<typeof response> {
  return {
    ...fields,
    id,
    cards: cards.map((each) => ({
      id: each.id,
      name: each.name,
      ...presentDays(each),
      services: each.services.map(presentService),
    })),
  };
}
