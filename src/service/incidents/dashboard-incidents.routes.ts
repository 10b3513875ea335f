import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { spacedTime } from '../../model/instant.ts';
import {
  incidentChangesSchema,
  incidentSchema,
  incidentUpdateSchema,
} from '../../model/status-page/incident.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import type { Incidents, StoredIncident } from './dashboard-incidents.ts';
import { incidentUpdatesRoutes, updatesQuery } from './updates.routes.ts';
import type { StoredUpdate } from './updates.ts';

const TAG = 'Incidents';
const PATH = '/v1/incidents';

const changes = z.strictObject({
  ...optionalFieldsOf(incidentChangesSchema.shape),
  ...ignored(['incidentUpdates', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
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

/**
 * Incidents of dashboards, and what is told of them: src/service/README.md, "Status pages and
 * incidents", 4.9.
 */
export function incidentsRoutes({
  incidents,
}: {
  readonly incidents: Incidents;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(
      crudRoutes({
        path: PATH,
        tag: TAG,
        changing: { role: 'write' },
        id: { name: 'incidentId', schema: uuidParam },
        query: z.strictObject(pageQuery),
        readQuery: updatesQuery,
        body: incidentSchema,
        changes,
        response: response,
        texts: {
          create: { summary: 'Create an incident' },
          list: { summary: 'List incidents, oldest first, each with its first update' },
          read: { summary: 'Read an incident' },
          update: {
            summary: 'Update an incident',
            description:
              'Fields that are left out stay as they are. Its updates have their own routes.',
          },
          remove: { summary: 'Delete an incident with its updates' },
        },
        feature: incidents,
        present: presentIncident,
      }),
    );
    await app.register(
      incidentUpdatesRoutes({
        path: PATH,
        tag: TAG,
        body: incidentUpdateSchema,
        response: updateResponse,
        summaries: {
          add: 'Add an update to an incident',
          remove: 'Delete an update of an incident',
        },
        feature: incidents.updates,
        present: presentUpdate,
      }),
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
