import {
  type IncidentFields,
  incidentChangesSchema,
  incidentSchema,
  incidentUpdateSchema,
} from '../../model/incident/dashboard-incident.ts';
import { instantMsOf, spacedTime } from '../../model/instant.ts';
import { SECOND_MS } from '../../model/time-units.ts';
import type { StoredIncident } from './incidents.sql.ts';
import {
  createIncidents,
  type IncidentKind,
  type Incidents,
  type IncidentsParts,
} from './incidents.ts';
import { DASHBOARD_TABLES } from './tables.sql.ts';

interface DashboardFields {
  readonly name: string;
  readonly impact: IncidentFields['impact'];
  readonly dashboardId: number | null;
  readonly startedAt: Date;
  /** null while that is open. */
  readonly stoppedAt: Date | null;
}

export type StoredDashboardIncident = StoredIncident<DashboardFields>;
export type DashboardIncidents = Incidents<DashboardFields>;

export const dashboardIncidents = {
  tables: DASHBOARD_TABLES,
  schemas: {
    incident: incidentSchema,
    changes: incidentChangesSchema,
    update: incidentUpdateSchema,
  },
  responseOnly: ['incidentUpdates', 'created_at', 'updated_at'],
  minUpdates: 0,
  defaultsAt: (nowMs) => ({ startedAt: spacedTime(nowMs) }),
  bodyOf: ({ name, impact, dashboardId, startedAt, stoppedAt }) => ({
    name,
    impact,
    dashboardId,
    startedAt: spacedTime(startedAt.getTime()),
    stoppedAt: stoppedAt && spacedTime(stoppedAt.getTime()),
  }),
  columnsOf: ({ name, impact, dashboardId, startedAt, stoppedAt }) => ({
    name,
    impact,
    dashboard_id: dashboardId,
    started_at: wholeSecond(startedAt),
    stopped_at: wholeSecond(stoppedAt),
  }),
} satisfies IncidentKind<DashboardFields, IncidentFields>;

export function createDashboardIncidents(parts: IncidentsParts): DashboardIncidents {
  return createIncidents<DashboardFields, IncidentFields>(parts, dashboardIncidents);
}

/** The format of the times has no fraction of a second, so none is stored that nobody could see. */
function wholeSecond(time: string | null | undefined): Date | null {
  const ms = instantMsOf(time ?? '');
  return ms === null ? null : new Date(Math.floor(ms / SECOND_MS) * SECOND_MS);
}
