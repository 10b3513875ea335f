import { MAX_INCIDENT_UPDATES } from '../../../model/incident/dashboard-incident.ts';
import type { IncidentSeverity } from '../../../model/incident/status-page-incident.ts';
import { type Recurrence, spanAt } from '../../../model/schedule/recurrence.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { readSnapshot } from '../../database/read-snapshot.ts';
import type { Sql, Store } from '../../database/store.ts';
import {
  publicIncident,
  publicIncidentsStarted,
  publicUpdatesOf,
} from '../../incidents/shared.sql.ts';
import { windowsSince } from '../../maintenance-windows/shared.sql.ts';
import type { IncidentOnPage } from '../state/events-on-page.ts';
import { maintenanceTimes, type Occurrence } from '../state/maintenance.ts';
import { readMeasurements } from '../state/measurements.ts';
import { measuredServicesOf } from '../state/sql.ts';
import type { StoredPage } from '../status-pages.ts';
import type { Month } from './months.ts';

/** An incident with all details that readers see. */
export interface IncidentInHistory extends Omit<IncidentOnPage, 'status'> {
  /** Markdown; null for none, and while the incident is open. */
  readonly postMortem: string | null;
}

interface PastEvent {
  readonly id: string;
  readonly name: string;
  readonly startMs: number;
  /** null while an incident is open. */
  readonly endMs: number | null;
  /** The affected services of the page. */
  readonly serviceIds: readonly string[];
}

/** The events that began in a month. */
export interface MonthOfHistory {
  readonly month: Month;
  /** The newest first. */
  readonly events: readonly (
    | (PastEvent & { readonly kind: 'incident'; readonly severity: IncidentSeverity })
    | (PastEvent & { readonly kind: 'maintenance' })
  )[];
  /** How many more there were. */
  readonly notShown: number;
}

interface OfPage {
  readonly accountId: string;
  readonly page: StoredPage;
}

/** The history of pages (src/service/README.md, "History"). */
export interface PageHistories {
  /** The current time in epoch milliseconds, which determines the available months. */
  nowMs(): number;
  /** null for a draft, and for one that names no service of the page. */
  incident(key: OfPage & { readonly incidentId: string }): Promise<IncidentInHistory | null>;
  /** In the order of the months, which follow each other, the newest first. */
  months(key: OfPage & { readonly months: readonly Month[] }): Promise<readonly MonthOfHistory[]>;
}

/** Events that a month shows at most. */
const MAX_EVENTS = 100;

export function createPageHistories({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): PageHistories {
  return {
    nowMs: () => clock.wallMs(),

    incident({ accountId, page, incidentId }) {
      const serviceIds = servicesOf(page);
      return readSnapshot(store, async (sql) => {
        const found = await publicIncident(sql, { accountId, serviceIds, id: incidentId });
        if (found === null) return null;
        const updates = await publicUpdatesOf(sql, {
          accountId,
          incidentIds: [incidentId],
          each: MAX_INCIDENT_UPDATES,
        });
        const { id, name, severity, startedAt, resolvedAt, postMortem } = found;
        return {
          id,
          name,
          severity,
          serviceIds: found.serviceIds,
          startedAtMs: startedAt.getTime(),
          resolvedAtMs: resolvedAt?.getTime() ?? null,
          updates: updates.map(({ id, status, description, at }) => ({
            id,
            status,
            description,
            atMs: at.getTime(),
          })),
          postMortem: resolvedAt === null ? null : postMortem,
        };
      });
    },

    months({ accountId, page, months }) {
      const serviceIds = servicesOf(page);
      return readSnapshot(store, async (sql) => {
        const maintenance = await pastMaintenance(sql, {
          accountId,
          pageId: page.id,
          months,
          nowMs: clock.wallMs(),
        });
        const found: MonthOfHistory[] = [];
        for (const month of months) {
          const { startMs: fromMs, endMs: toMs } = month;
          const started = { accountId, serviceIds, fromMs, toMs, limit: MAX_EVENTS };
          const { incidents, total } = await publicIncidentsStarted(sql, started);
          const planned = maintenance.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
          const events = [
            ...incidents.map((incident) => ({
              kind: 'incident' as const,
              id: incident.id,
              name: incident.name,
              severity: incident.severity,
              startMs: incident.startedAt.getTime(),
              endMs: incident.resolvedAt?.getTime() ?? null,
              serviceIds: incident.serviceIds,
            })),
            ...planned,
          ].toSorted((one, other) => other.startMs - one.startMs);
          found.push({
            month,
            events: events.slice(0, MAX_EVENTS),
            notShown: total + planned.length - Math.min(events.length, MAX_EVENTS),
          });
        }
        return found;
      });
    },
  };
}

function servicesOf({ cards }: StoredPage): readonly string[] {
  return [...new Set(cards.flatMap(({ services }) => services.map(({ id }) => id)))];
}

type PastMaintenance = PastEvent & { readonly kind: 'maintenance' };

/** The maintenance that began in the months, and not later than now. */
async function pastMaintenance(
  sql: Sql,
  {
    accountId,
    pageId,
    months,
    nowMs,
  }: {
    readonly accountId: string;
    readonly pageId: string;
    readonly months: readonly Month[];
    readonly nowMs: number;
  },
): Promise<readonly PastMaintenance[]> {
  const fromMs = Math.min(...months.map(({ startMs }) => startMs));
  const toMs = Math.min(nowMs, Math.max(...months.map(({ endMs }) => endMs)));
  const windows = await windowsSince(sql, { accountId, atMs: fromMs });
  if (windows.length === 0) return [];
  const measurements = await readMeasurements(sql, {
    accountId,
    services: await measuredServicesOf(sql, { accountId, pageId }),
    maintenance: maintenanceTimes(windows, { fromMs, nowMs: toMs }),
    nowMs: toMs,
  });
  const affected = new Map<string, string[]>();
  for (const { service, ownWindows, checks } of measurements) {
    const own = new Set([...ownWindows, ...checks.flatMap((check) => check.windows)]);
    for (const { id } of own) affected.set(id, [...(affected.get(id) ?? []), service.id]);
  }
  return windows.flatMap(({ id, window }) => {
    const serviceIds = affected.get(String(id));
    if (serviceIds === undefined) return [];
    return begunBetween(window, fromMs, toMs).map(({ fromMs: startMs, toMs: endMs }) => ({
      kind: 'maintenance' as const,
      id: String(id),
      name: window.name,
      startMs,
      endMs,
      serviceIds,
    }));
  });
}

/** Both ends included. No window starts more than once a day. */
function begunBetween(window: Recurrence, fromMs: number, toMs: number): readonly Occurrence[] {
  const begun: Occurrence[] = [];
  let atMs = fromMs;
  while (atMs <= toMs) {
    const span = spanAt(window, atMs);
    if (span.isInside && span.fromMs >= fromMs) begun.push(span);
    atMs = span.toMs;
  }
  return begun;
}
