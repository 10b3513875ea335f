import type { IncidentStatus } from '../../../model/incident/dashboard-incident.ts';
import type { IncidentSeverity } from '../../../model/incident/status-page-incident.ts';
import { DAY_MS } from '../../../model/time-units.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { Sql } from '../../database/store.ts';
import { type PublicIncident, publicUpdatesOf } from '../../incidents/shared.sql.ts';
import type { KnownWindow } from './maintenance.ts';

/** How many days back and ahead a page shows past and future events. */
export const NEAR_DAYS = 14;
export const NEAR_MS = NEAR_DAYS * DAY_MS;
const MAX_UPDATES = 50;
const MAX_MAINTENANCE = 50;

export interface IncidentOnPage {
  readonly id: string;
  readonly name: string;
  readonly severity: IncidentSeverity;
  readonly status: IncidentStatus;
  /** The affected services of the page. */
  readonly serviceIds: readonly string[];
  readonly startedAtMs: number;
  /** null while it is open. */
  readonly resolvedAtMs: number | null;
  /** The newest first, at most MAX_UPDATES. */
  readonly updates: readonly {
    readonly id: string;
    readonly status: IncidentStatus;
    readonly description: string;
    readonly atMs: number;
  }[];
}

export interface MaintenanceOnPage {
  readonly id: string;
  readonly name: string;
  /** Windows have none. */
  readonly description: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly isRunning: boolean;
  /** When pages first announced it. */
  readonly announcedMs: number;
  /** When the window was last changed, or else created. */
  readonly changedAtMs: number;
  readonly serviceIds: readonly string[];
}

export async function incidentsOnPage(
  sql: Sql,
  accountId: string,
  shown: readonly PublicIncident[],
): Promise<readonly IncidentOnPage[]> {
  const incidentIds = shown.map(({ id }) => id);
  const updates = groupBy(
    await publicUpdatesOf(sql, { accountId, incidentIds, each: MAX_UPDATES }),
    ({ incidentId }) => incidentId,
  );
  return shown.map(({ startedAt, resolvedAt, ...incident }) => ({
    ...incident,
    startedAtMs: +startedAt,
    resolvedAtMs: resolvedAt === null ? null : +resolvedAt,
    updates: (updates.get(incident.id) ?? []).map(({ id, status, description, at }) => ({
      id,
      status,
      description,
      atMs: +at,
    })),
  }));
}

/** Earliest first, at most MAX_MAINTENANCE. */
export function maintenanceOnPage(
  services: Iterable<{
    readonly service: { readonly id: string };
    readonly windows: readonly KnownWindow[];
  }>,
  nowMs: number,
): readonly MaintenanceOnPage[] {
  const affected = new Map<KnownWindow, string[]>();
  for (const { service, windows } of services) {
    for (const window of windows) {
      const ids = affected.get(window) ?? [];
      ids.push(service.id);
      affected.set(window, ids);
    }
  }
  return [...affected]
    .flatMap(([{ id, name, createdAtMs, changedAtMs, next }, serviceIds]) => {
      if (next === null || next.fromMs > nowMs + NEAR_MS) return [];
      const { fromMs: startMs, toMs: endMs, isRunning } = next;
      const announcedMs = Math.max(startMs - NEAR_MS, createdAtMs);
      const times = { startMs, endMs, isRunning, announcedMs, changedAtMs };
      return [{ id, name, description: null, ...times, serviceIds }];
    })
    .toSorted((one, other) => one.startMs - other.startMs || Number(one.id) - Number(other.id))
    .slice(0, MAX_MAINTENANCE);
}
