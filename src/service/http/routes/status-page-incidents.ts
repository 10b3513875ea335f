import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { INCIDENT_STATUSES } from '../../../model/incident.ts';
import {
  pageIncidentChangesSchema,
  pageIncidentSchema,
  pageIncidentUpdateSchema,
} from '../../../model/status-page-incident.ts';
import type { StoredUpdate } from '../../features/status-pages/incident-updates.ts';
import type {
  StatusPageIncidents,
  StoredPageIncident,
} from '../../features/status-pages/incidents.ts';
import { callerOf } from '../plugins/authentication.ts';
import { booleanQuery, NO_CONTENT, pageQuery, uuidParam } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Status page incidents'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/status-pages/incidents';
const UPDATES = `${PATH}/:incidentId/incident-updates`;

const params = z.object({ incidentId: uuidParam });
const updateParams = params.extend({ updateId: uuidParam });
const changes = z.strictObject({
  ...optionalFieldsOf(pageIncidentChangesSchema.shape),
  ...ignored(['lastUpdateStatus', 'incidentUpdates', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});
const updateChanges = z.strictObject({
  ...optionalFieldsOf(pageIncidentUpdateSchema.shape),
  ...ignored(['incidentId', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});
const query = z.strictObject({
  includeAllIncidentUpdates: booleanQuery(false).describe(
    'Whether all updates are in the answer, or the first alone.',
  ),
});
const updateResponse = pageIncidentUpdateSchema.extend({
  id: z.string(),
  incidentId: z.string(),
  publicIncidentUpdateDate: z.iso.datetime(),
  ...TIMES,
});
export const incidentResponse = pageIncidentChangesSchema.extend({
  id: z.string(),
  incidentUpdates: z.array(updateResponse).describe('Oldest first.'),
  lastUpdateStatus: z.enum(INCIDENT_STATUSES).describe('The status of the latest update.'),
  ...TIMES,
});

/** Incidents that status pages show, and what is told of them: spec 2.16, 4.8, 4.9. */
export function statusPageIncidentsRoutes({
  statusPageIncidents,
}: {
  readonly statusPageIncidents: StatusPageIncidents;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(incidentRoutes(statusPageIncidents));
    await app.register(updateRoutes(statusPageIncidents));
  };
}

function incidentRoutes(incidents: StatusPageIncidents): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create an incident with its first update',
          body: pageIncidentSchema,
          response: { 201: incidentResponse },
        },
      },
      async (request, reply) => {
        const created = await incidents.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentIncident(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List incidents, oldest first, each with its first update',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(incidentResponse) },
        },
      },
      async (request) => {
        const found = await incidents.list(callerOf(request).accountId, request.query);
        return found.map(presentIncident);
      },
    );

    app.get(
      `${PATH}/:incidentId`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read an incident',
          params,
          querystring: query,
          response: { 200: incidentResponse },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const { incidentId } = request.params;
        return presentIncident(await incidents.read(accountId, incidentId, request.query));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:incidentId`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update an incident',
        description:
          'Fields that are left out stay as they are; each that is given replaces the stored one whole. Its updates have routes of their own.',
        params,
        body: changes,
        response: { 200: incidentResponse },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { incidentId } = request.params;
        return presentIncident(await incidents.update(accountId, incidentId, request.body));
      },
    });

    app.delete(
      `${PATH}/:incidentId`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete an incident with its updates',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await incidents.remove(callerOf(request).accountId, request.params.incidentId);
        return reply.code(204).send(null);
      },
    );
  };
}

function updateRoutes({ updates }: StatusPageIncidents): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      UPDATES,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Add an update to an incident; its status is that of the incident from now on',
          params,
          body: pageIncidentUpdateSchema,
          response: { 201: updateResponse },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const added = await updates.add(accountId, request.params.incidentId, request.body);
        return reply.code(201).send(presentUpdate(added));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${UPDATES}/:updateId`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Change an update of an incident',
        description: 'Fields that are left out stay as they are.',
        params: updateParams,
        body: updateChanges,
        response: { 200: updateResponse },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { incidentId, updateId } = request.params;
        return presentUpdate(await updates.change(accountId, incidentId, updateId, request.body));
      },
    });

    app.delete(
      `${UPDATES}/:updateId`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete an update of an incident, which keeps at least one',
          params: updateParams,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { incidentId, updateId } = request.params;
        await updates.remove(callerOf(request).accountId, incidentId, updateId);
        return reply.code(204).send(null);
      },
    );
  };
}

export function presentIncident(incident: StoredPageIncident): z.output<typeof incidentResponse> {
  return {
    ...incident.fields,
    id: incident.id,
    incidentUpdates: incident.updates.map(presentUpdate),
    lastUpdateStatus: incident.lastUpdateStatus,
    created_at: incident.createdAt.toISOString(),
    updated_at: (incident.updatedAt ?? incident.createdAt).toISOString(),
  };
}

function presentUpdate(update: StoredUpdate): z.output<typeof updateResponse> {
  const { publicAtMs, ...fields } = update.fields;
  return {
    ...fields,
    id: update.id,
    incidentId: update.incidentId,
    publicIncidentUpdateDate: new Date(publicAtMs ?? update.createdAt).toISOString(),
    created_at: update.createdAt.toISOString(),
    updated_at: update.updatedAt?.toISOString() ?? null,
  };
}
