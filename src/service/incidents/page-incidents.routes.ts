import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { INCIDENT_STATUSES } from '../../model/status-page/incident.ts';
import {
  pageIncidentChangesSchema,
  pageIncidentSchema,
  pageIncidentUpdateSchema,
} from '../../model/status-page/status-page-incident.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import type { StatusPageIncidents, StoredPageIncident } from './page-incidents.ts';
import { incidentUpdatesRoutes, updatesQuery } from './updates.routes.ts';
import type { StoredUpdate } from './updates.ts';

const TAG = 'Status page incidents';
const PATH = '/v1/status-pages/incidents';

const changes = z.strictObject({
  ...optionalFieldsOf(pageIncidentChangesSchema.shape),
  ...ignored(['lastUpdateStatus', 'incidentUpdates', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
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

/**
 * Incidents that status pages show, and what is told of them: src/service/README.md, "Status pages
 * and incidents", 4.8, 4.9.
 */
export function statusPageIncidentsRoutes({
  statusPageIncidents,
}: {
  readonly statusPageIncidents: StatusPageIncidents;
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
        body: pageIncidentSchema,
        changes,
        response: incidentResponse,
        texts: {
          create: { summary: 'Create an incident with its first update' },
          list: { summary: 'List incidents, oldest first, each with its first update' },
          read: { summary: 'Read an incident' },
          update: {
            summary: 'Update an incident',
            description:
              'Fields that are left out stay as they are; each that is given replaces the stored one whole. Its updates have routes of their own.',
          },
          remove: { summary: 'Delete an incident with its updates' },
        },
        feature: statusPageIncidents,
        present: presentIncident,
      }),
    );
    await app.register(
      incidentUpdatesRoutes({
        path: PATH,
        tag: TAG,
        body: pageIncidentUpdateSchema,
        response: updateResponse,
        summaries: {
          add: 'Add an update to an incident; its status is that of the incident from now on',
          remove: 'Delete an update of an incident, which keeps at least one',
        },
        feature: statusPageIncidents.updates,
        present: presentUpdate,
      }),
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
