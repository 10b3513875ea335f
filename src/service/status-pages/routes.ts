import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SERVICE_STATES } from '../../model/incident/status-page-incident.ts';
import { changedStatusPageSchema, statusPageSchema } from '../../model/status-page/status-page.ts';
import { callerOf } from '../http/access/authentication.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { asShown, idOf } from '../http/resources/shown-fields.ts';
import { warningsSchema } from '../http/resources/warnings.ts';
import { pageIncident, presentPageIncident } from '../incidents/routes.ts';
import type { StatusPageSummaries } from './page-summary.ts';
import { cardServiceResponse, DAYS, presentCardService, presentDays } from './services.routes.ts';
import { refuseHostOfRequest } from './site/domain-rules.ts';
import type { PageView, StatusPages } from './status-pages.ts';

const TAG = 'Status pages';
const PATH = '/v1/status-pages';

const changes = z.strictObject({
  ...optionalFieldsOf(changedStatusPageSchema.shape),
  ...ignored(['hasPassword', 'warnings']),
  id: z.string().optional().describe('The same as in the path.'),
});
const cardFields = {
  id: idOf('the card'),
  name: z.string().describe('The heading of the card.'),
};
const card = z.strictObject({
  ...cardFields,
  ...DAYS,
  services: z.array(cardServiceResponse).describe('Its services in display order.'),
});
const body = statusPageSchema.extend(ignored(['warnings']));
const pageId = idOf('the page');
const response = statusPageSchema.omit({ password: true }).extend({
  hasPassword: z.boolean().describe('Whether readers can open the page with a password.'),
  id: pageId,
  cards: z.array(card).describe('The cards of the page in display order.'),
  warnings: warningsSchema,
});

const state = z.enum(SERVICE_STATES).describe('The worst of the open incidents that name it.');
const summaryResponse = z.strictObject({
  id: pageId,
  name: asShown(statusPageSchema.shape.name),
  url: asShown(statusPageSchema.shape.url),
  state: z.enum(SERVICE_STATES).describe('The worst of its services.'),
  cards: z
    .array(
      z.strictObject({
        ...cardFields,
        services: z
          .array(cardServiceResponse.pick({ id: true, name: true }).extend({ state }))
          .describe('Its services in display order.'),
      }),
    )
    .describe('The cards of the page in display order.'),
  incidents: z
    .array(pageIncident)
    .describe('The open ones, newest first, 100 at most, each with its first update.'),
});

/** Status pages with their cards: src/service/README.md, "Status pages and incidents". */
export function statusPagesRoutes(features: {
  readonly statusPages: StatusPages;
  readonly statusPageSummaries: StatusPageSummaries;
}): FastifyPluginAsync {
  const { statusPages, statusPageSummaries } = features;
  return async (app) => {
    app.addHook('preHandler', async ({ body, host }) => {
      const { customDomain } = (body ?? {}) as { readonly customDomain?: unknown };
      refuseHostOfRequest(customDomain, host);
    });
    await app.register(
      crudRoutes({
        path: PATH,
        resource: 'StatusPage',
        tag: TAG,
        changing: { role: 'write' },
        id: { name: 'statusPageId', schema: uuidParam },
        query: z.strictObject(pageQuery),
        body,
        changes,
        response,
        texts: {
          create: { summary: 'Create a status page with its cards' },
          list: { summary: 'List status pages, oldest first' },
          read: { summary: 'Read a status page' },
          update: {
            summary: 'Update a status page',
            description:
              'Omitted fields do not change; each given field replaces the stored one as a whole. A card keeps its id if the request has the id or, without one, the same name.',
          },
          remove: { summary: 'Delete a status page with its cards; the services stay' },
        },
        feature: statusPages,
        present: presentPage,
      }),
    );

    app.withTypeProvider<ZodTypeProvider>().post(
      `${PATH}/:statusPageId/fetch-pictures`,
      {
        config: { role: 'write', audit: { none: 'the page does not change' } },
        schema: {
          tags: [TAG],
          operationId: 'fetchStatusPagePictures',
          summary: 'Fetch the logo and the icon of a status page again',
          description:
            'Use it if a picture has changed at its URL, or could not be fetched. `warnings` in the response name the pictures that could not be fetched this time.',
          params: z.object({ statusPageId: uuidParam }),
          response: { 200: response.describe('The status page.') },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const id = request.params.statusPageId;
        return presentPage(await statusPages.fetchPictures({ accountId, id }));
      },
    );

    app.withTypeProvider<ZodTypeProvider>().get(
      `${PATH}/:statusPageId/summary`,
      {
        config: { role: 'read' },
        schema: {
          tags: [TAG],
          operationId: 'getStatusPageSummary',
          summary: 'Read the status of the services of a status page, and its open incidents',
          params: z.object({ statusPageId: uuidParam }),
          response: { 200: summaryResponse },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const found = await statusPageSummaries.read(accountId, request.params.statusPageId);
        return {
          ...found,
          cards: found.cards.map(({ services, ...rest }) => ({ ...rest, services: [...services] })),
          incidents: found.incidents.map(presentPageIncident),
        };
      },
    );
  };
}

function presentPage({
  id,
  fields,
  hasPassword,
  cards,
  warnings = [],
}: PageView): z.output<typeof response> {
  return {
    ...fields,
    hasPassword,
    id,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    cards: cards.map((each) => ({
      id: each.id,
      name: each.name,
      ...presentDays(each),
      services: each.services.map(presentCardService),
    })),
  };
}
