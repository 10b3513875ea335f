import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  incidentChangesSchema,
  incidentSchema,
  incidentUpdateSchema,
} from '../../../model/incident.ts';
import { spacedTime } from '../../../model/instant.ts';
import type { Incidents, StoredIncident } from '../../features/incidents.ts';
import type { StoredUpdate } from '../../features/status-pages/incident-updates.ts';
import { callerOf } from '../plugins/authentication.ts';
import { booleanQuery, NO_CONTENT, pageQuery, uuidParam } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Incidents'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/incidents';
const UPDATES = `${PATH}/:incidentId/incident-updates`;

const params = z.object({ incidentId: uuidParam });
const updateParams = params.extend({ updateId: uuidParam });
const changes = z.strictObject({
  ...optionalFieldsOf(incidentChangesSchema.shape),
  ...ignored(['incidentUpdates', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});
const updateChanges = z.strictObject({
  ...optionalFieldsOf(incidentUpdateSchema.shape),
  ...ignored(['incidentId', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});
const query = z.strictObject({
  includeAllIncidentUpdates: booleanQuery(false).describe(
    'Whether all updates are in the answer, or the first alone.',
  ),
});
const updateResponse = incidentUpdateSchema.extend({
  id: z.string(),
  incidentId: z.string(),
  ...TIMES,
});

const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .describe('YYYY-MM-DD HH:MM:SS, in UTC.');
const response = z.strictObject({
  id: z.string(),
  name: incidentChangesSchema.shape.name,
  impact: incidentChangesSchema.shape.impact,
  dashboardId: z.int().nullable(),
  startedAt: time,
  stoppedAt: time.nullable(),
  incidentUpdates: z.array(updateResponse).describe('Oldest first.'),
  ...TIMES,
});

/** Incidents of dashboards, and what is told of them: spec 2.16, 4.9. */
export function incidentsRoutes({
  incidents,
}: {
  readonly incidents: Incidents;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(incidentRoutes(incidents));
    await app.register(updateRoutes(incidents));
  };
}

function incidentRoutes(incidents: Incidents): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create an incident',
          body: incidentSchema,
          response: { 201: response },
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
          response: { 200: z.array(response) },
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
          response: { 200: response },
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
          'Fields that are left out stay as they are. Its updates have their own routes.',
        params,
        body: changes,
        response: { 200: response },
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

function updateRoutes({ updates }: Incidents): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      UPDATES,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Add an update to an incident',
          params,
          body: incidentUpdateSchema,
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
          summary: 'Delete an update of an incident',
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

function presentIncident(incident: StoredIncident): z.output<typeof response> {
  const { name, impact, dashboardId, startedAtMs, stoppedAtMs } = incident.fields;
  return {
    id: incident.id,
    name,
    impact,
    dashboardId,
    startedAt: spacedTime(startedAtMs),
    stoppedAt: stoppedAtMs === null ? null : spacedTime(stoppedAtMs),
    incidentUpdates: incident.updates.map(presentUpdate),
    created_at: incident.createdAt.toISOString(),
    updated_at: (incident.updatedAt ?? incident.createdAt).toISOString(),
  };
}

function presentUpdate(update: StoredUpdate): z.output<typeof updateResponse> {
  return {
    id: update.id,
    incidentId: update.incidentId,
    status: update.fields.status,
    description: update.fields.description,
    created_at: update.createdAt.toISOString(),
    updated_at: update.updatedAt?.toISOString() ?? null,
  };
}
