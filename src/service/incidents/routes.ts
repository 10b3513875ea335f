import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import {
  INCIDENT_STATUSES,
  incidentChangesSchema,
  incidentUpdateSchema,
} from '../../model/incident/dashboard-incident.ts';
import {
  pageIncidentChangesSchema,
  pageIncidentUpdateSchema,
} from '../../model/incident/status-page-incident.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import type { RawBody } from '../http/resources/given-fields.ts';
import type { Page } from '../http/resources/paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import {
  type DashboardIncidents,
  dashboardIncidents,
  type StoredDashboardIncident,
} from './dashboard-incidents.ts';
import type { IncidentFilter, Incidents, StoredIncident } from './incidents.ts';
import {
  pageIncidents,
  type StatusPageIncidents,
  type StoredPageIncident,
} from './status-page-incidents.ts';
import { incidentUpdatesRoutes, updatesQuery } from './updates.routes.ts';
import type { StoredUpdate } from './updates.ts';

const UPDATE_IDS = { id: idOf('the update'), incidentId: idOf('the incident') };
const dashboardUpdate = incidentUpdateSchema.extend({ ...UPDATE_IDS, ...TIMES });
const pageUpdate = pageIncidentUpdateSchema.extend({
  ...UPDATE_IDS,
  publicIncidentUpdateDate: z.iso.datetime().describe('The time that readers see.'),
  ...TIMES,
});

const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .describe('YYYY-MM-DD HH:MM:SS, in UTC.');
const dashboardIncident = z.strictObject({
  id: UPDATE_IDS.incidentId,
  name: incidentChangesSchema.shape.name,
  impact: incidentChangesSchema.shape.impact,
  dashboardId: z.int().nullable().describe('The dashboard that shows it; null for none.'),
  startedAt: time.describe(`When the incident becomes active. ${time.description}`),
  stoppedAt: time
    .nullable()
    .describe(
      `When the incident becomes inactive; null while that is unknown. ${time.description}`,
    ),
  incidentUpdates: z.array(dashboardUpdate).describe('Oldest first.'),
  ...TIMES,
});
export const pageIncident = pageIncidentChangesSchema.extend({
  id: UPDATE_IDS.incidentId,
  incidentUpdates: z.array(pageUpdate).describe('Oldest first.'),
  lastUpdateStatus: z.enum(INCIDENT_STATUSES).describe('The status of the latest update.'),
  ...TIMES,
});

const listQuery = z.strictObject(pageQuery);
const pageListQuery = listQuery.extend({
  state: z
    .enum(['open', 'resolved'])
    .optional()
    .describe('open: only those that are not resolved, drafts included. Default: all.'),
  sort: z
    .enum(['created_at', '-created_at'])
    .default('created_at')
    .describe('-created_at: the newest first. Default: created_at.'),
});

/** The incidents of dashboards: src/service/README.md, "Status pages and incidents". */
export function incidentsRoutes({
  incidents,
}: {
  readonly incidents: DashboardIncidents;
}): FastifyPluginAsync {
  return routesOf({
    path: '/v1/incidents',
    resource: 'Incident',
    tag: 'Incidents',
    kind: dashboardIncidents,
    query: listQuery,
    filterOf: () => ({}),
    response: dashboardIncident,
    updateResponse: dashboardUpdate,
    summaries: {
      create: 'Create an incident',
      add: 'Add an update to an incident',
      remove: 'Delete an update of an incident',
    },
    feature: incidents,
    present: presentDashboardIncident,
    presentUpdate: presentDashboardUpdate,
  });
}

/** The incidents that status pages show: src/service/README.md, "Status pages and incidents". */
export function statusPageIncidentsRoutes({
  statusPageIncidents,
}: {
  readonly statusPageIncidents: StatusPageIncidents;
}): FastifyPluginAsync {
  return routesOf({
    path: '/v1/status-pages/incidents',
    resource: 'StatusPageIncident',
    tag: 'Status page incidents',
    kind: pageIncidents,
    query: pageListQuery,
    filterOf: ({ state, sort }) => ({
      isOpen: state === undefined ? undefined : state === 'open',
      isNewestFirst: sort === '-created_at',
    }),
    response: pageIncident,
    updateResponse: pageUpdate,
    summaries: {
      create: 'Create an incident with its first update',
      add: 'Add an update to an incident; its status becomes that of the incident',
      remove: 'Delete an update of an incident, which keeps at least one',
    },
    feature: statusPageIncidents,
    present: presentPageIncident,
    presentUpdate: presentPageUpdate,
  });
}

/** The routes of the incidents of one kind and of their updates. */
function routesOf<Fields, Shown extends object, ShownUpdate, Query extends Page>({
  path,
  resource,
  tag,
  kind: { schemas, responseOnly },
  query,
  filterOf,
  response,
  updateResponse,
  summaries,
  feature,
  present,
  presentUpdate,
}: {
  readonly path: string;
  readonly resource: string;
  readonly tag: string;
  readonly kind: {
    readonly schemas: {
      readonly incident: z.ZodType<RawBody>;
      readonly changes: z.ZodObject;
      readonly update: z.ZodObject;
    };
    readonly responseOnly: readonly string[];
  };
  readonly query: z.ZodType<Query>;
  readonly filterOf: (query: Query) => IncidentFilter;
  readonly response: z.ZodType<Shown>;
  readonly updateResponse: z.ZodType<ShownUpdate>;
  readonly summaries: Readonly<Record<'create' | 'add' | 'remove', string>>;
  readonly feature: Incidents<Fields>;
  readonly present: (incident: StoredIncident<Fields>) => Shown;
  readonly presentUpdate: (update: StoredUpdate) => ShownUpdate;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(
      crudRoutes({
        path,
        resource,
        tag,
        changing: { role: 'write' },
        id: { name: 'incidentId', schema: uuidParam },
        query,
        readQuery: updatesQuery,
        auditQuery: { includeAllIncidentUpdates: true },
        body: schemas.incident,
        changes: z.strictObject({
          ...optionalFieldsOf(schemas.changes.shape),
          ...ignored(responseOnly),
          id: z.string().optional().describe('The same as in the path.'),
        }),
        response,
        texts: {
          create: { summary: summaries.create },
          list: {
            summary: 'List incidents, oldest first, each with its first update',
          },
          read: { summary: 'Read an incident' },
          update: {
            summary: 'Update an incident',
            description:
              'Omitted fields do not change; each given field replaces the stored one as a whole. Its updates have their own routes.',
          },
          remove: { summary: 'Delete an incident with its updates' },
        },
        feature: {
          ...feature,
          list: (accountId: string, query: Query) =>
            feature.list(accountId, { ...query, ...filterOf(query) }),
        },
        present,
      }),
    );
    await app.register(
      incidentUpdatesRoutes({
        path,
        resource,
        tag,
        body: schemas.update,
        response: updateResponse,
        summaries,
        feature: feature.updates,
        present: presentUpdate,
        presentIncident: present,
      }),
    );
  };
}

function presentDashboardIncident(
  incident: StoredDashboardIncident,
): z.output<typeof dashboardIncident> {
  return {
    id: incident.id,
    ...dashboardIncidents.bodyOf(incident),
    incidentUpdates: incident.updates.map(presentDashboardUpdate),
    created_at: incident.createdAt.toISOString(),
    updated_at: (incident.updatedAt ?? incident.createdAt).toISOString(),
  };
}

function presentDashboardUpdate(update: StoredUpdate): z.output<typeof dashboardUpdate> {
  const { id, incidentId, status, description } = update;
  return {
    id,
    incidentId,
    status,
    description,
    created_at: update.createdAt.toISOString(),
    updated_at: update.updatedAt?.toISOString() ?? null,
  };
}

export function presentPageIncident(incident: StoredPageIncident): z.output<typeof pageIncident> {
  return {
    id: incident.id,
    ...pageIncidents.bodyOf(incident),
    incidentUpdates: incident.updates.map(presentPageUpdate),
    lastUpdateStatus: incident.lastUpdateStatus,
    created_at: incident.createdAt.toISOString(),
    updated_at: (incident.updatedAt ?? incident.createdAt).toISOString(),
  };
}

function presentPageUpdate(update: StoredUpdate): z.output<typeof pageUpdate> {
  return {
    ...presentDashboardUpdate(update),
    publicIncidentUpdateDate: (update.publicAt ?? update.createdAt).toISOString(),
    notifySubscribers: update.notifySubscribers,
  };
}
