import type { ServiceCondition } from '../../../model/incident/status-page-incident.ts';
import { DAY_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { Availability } from '../../analytics/rollups/availability.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { readSnapshot } from '../../database/read-snapshot.ts';
import type { Sql, Store } from '../../database/store.ts';
import { type PublicIncident, publicIncidentsSince } from '../../incidents/shared.sql.ts';
import { windowsSince } from '../../maintenance-windows/shared.sql.ts';
import type { OutdatedStates } from '../../results/statuses/outdated-states.ts';
import { findPage } from '../sql.ts';
import {
  conditionByChecks,
  conditionByIncidents,
  conditionOfCheck,
  type TimedCondition,
  worse,
  worstCondition,
} from './condition.ts';
import {
  createHistories,
  HISTORY_DAYS,
  type HistoryQuery,
  type ServiceHistory,
} from './daily-history.ts';
import {
  type IncidentOnPage,
  incidentsOnPage,
  type MaintenanceOnPage,
  maintenanceOnPage,
  NEAR_MS,
} from './events-on-page.ts';
import { type KnownWindow, maintenanceTimes, runningSince } from './maintenance.ts';
import { type Measurement, readMeasurements } from './measurements.ts';
import { measuredServicesOf } from './sql.ts';
import { createUsualTimes } from './usual-times-of-services.ts';

export type { ServiceCondition } from '../../../model/incident/status-page-incident.ts';
export type { ServiceHistory } from './daily-history.ts';
export type { IncidentOnPage, MaintenanceOnPage } from './events-on-page.ts';

/** The state of a status page for readers at one moment. */
export interface PageState {
  /** Epoch milliseconds. */
  readonly readAtMs: number;
  /** The worst of its services and open incidents. */
  readonly condition: ServiceCondition;
  readonly cards: readonly {
    readonly id: string;
    readonly name: string;
    readonly services: readonly ServiceOnPage[];
  }[];
  /** The open ones, newest first, at most MAX_OPEN_INCIDENTS. */
  readonly incidents: readonly IncidentOnPage[];
  /** Resolved within NEAR_MS, newest first, at most MAX_PAST_INCIDENTS. */
  readonly pastIncidents: readonly IncidentOnPage[];
  /** Running now or starting within NEAR_MS, earliest first, at most MAX_MAINTENANCE. */
  readonly maintenance: readonly MaintenanceOnPage[];
}

export interface ServiceOnPage {
  readonly id: string;
  readonly name: string;
  readonly condition: ServiceCondition;
  /** Epoch milliseconds; null if unknown, and of OPERATIONAL. */
  readonly sinceMs: number | null;
  /** The average of the latest runs of its checks that pass; null without any. */
  readonly responseTimeMs: number | null;
  /** The average of `usualResponseTime` of its checks; null without any. */
  readonly usualResponseTimeMs: number | null;
  /** null if the service does not show it, or nothing was measured. */
  readonly history: ServiceHistory | null;
}

export interface PageStatesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly availability: Pick<
    Availability,
    'days' | 'daysByLocation' | 'within' | 'usualResponseTimes'
  >;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
}

/** Reads the states of status pages: src/service/README.md, "Conditions of services". */
export interface PageStates {
  /** null for a page that does not exist. */
  read(key: AccountKey): Promise<PageState | null>;
  /** Reads only the conditions, without histories; null for a page that does not exist. */
  conditions(key: AccountKey): Promise<PageConditions | null>;
}

export interface PageConditions {
  readonly condition: ServiceCondition;
  /** By the id of the service. */
  readonly services: ReadonlyMap<string, ServiceCondition>;
}

const MAX_OPEN_INCIDENTS = 100;
const MAX_PAST_INCIDENTS = 50;
/** Within HISTORY_DAYS; the newest. */
const MAX_INCIDENTS = 1_000;

/** A service with everything that its condition depends on. */
interface KnownService extends Measurement {
  readonly incidents: readonly PublicIncident[];
  /** The windows that concern it or one of its checks. */
  readonly windows: readonly KnownWindow[];
  readonly current: TimedCondition;
}

interface KnownPage {
  readonly nowMs: number;
  readonly page: NonNullable<Awaited<ReturnType<typeof findPage>>>;
  readonly services: ReadonlyMap<string, KnownService>;
  readonly open: readonly PublicIncident[];
  readonly past: readonly PublicIncident[];
  readonly condition: ServiceCondition;
  readonly windowsVersion: string;
}

export function createPageStates(parts: PageStatesParts): PageStates {
  const { store, clock, outdatedStates } = parts;
  const histories = createHistories(parts);
  const usualTimes = createUsualTimes(parts);

  async function readPage(sql: Sql, { accountId, id }: AccountKey): Promise<KnownPage | null> {
    const nowMs = clock.wallMs();
    const page = await findPage(sql, { accountId, id });
    if (page === null) return null;
    const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS - (HISTORY_DAYS - 1) * DAY_MS;
    const measured = await measuredServicesOf(sql, { accountId, pageId: id });
    const incidents = await publicIncidentsSince(sql, {
      accountId,
      serviceIds: measured.map((service) => service.id),
      sinceMs: fromMs,
      limit: MAX_INCIDENTS,
    });
    const windows = await windowsSince(sql, { accountId, atMs: fromMs });
    const maintenance = maintenanceTimes(windows, { fromMs, nowMs });
    const measurements = await readMeasurements(sql, {
      accountId,
      services: measured,
      maintenance,
      nowMs,
    });
    const ofServices = groupBy(
      incidents.flatMap((incident) =>
        incident.serviceIds.map((serviceId) => ({ serviceId, incident })),
      ),
      ({ serviceId }) => serviceId,
    );
    const services = new Map(
      measurements.map((measurement) => {
        const own = (ofServices.get(measurement.service.id) ?? []).map(({ incident }) => incident);
        return [measurement.service.id, knownService(measurement, own, nowMs)];
      }),
    );
    const conditions = [...services.values()].map(({ current }) => current.condition);
    const open = incidents.filter(({ resolvedAt }) => resolvedAt === null);
    const past = incidents.filter(({ resolvedAt }) => +(resolvedAt ?? 0) >= nowMs - NEAR_MS);
    return {
      nowMs,
      page,
      services,
      open,
      past,
      condition: worstCondition(conditions),
      windowsVersion: maintenance.version,
    };
  }

  return {
    async read(key) {
      await outdatedStates.refresh({ accountId: key.accountId, checkId: null });
      const found = await readSnapshot(store, async (sql) => {
        const known = await readPage(sql, key);
        if (known === null) return null;
        const { open, past } = known;
        const eventsOf = (shown: readonly PublicIncident[]) =>
          incidentsOnPage(sql, key.accountId, shown);
        return {
          known,
          histories: await histories.read(sql, historyQueryOf(key, known)),
          incidents: await eventsOf(open.slice(0, MAX_OPEN_INCIDENTS)),
          pastIncidents: await eventsOf(past.slice(0, MAX_PAST_INCIDENTS)),
        };
      });
      if (found === null) return null;
      const { known, incidents, pastIncidents } = found;
      const services = [...known.services.values()];
      const usual = await usualTimes.read(key, services);
      return {
        readAtMs: known.nowMs,
        condition: known.condition,
        cards: known.page.cards.map(({ id, name, services: onCard }) => ({
          id,
          name,
          services: onCard.map((service) => {
            const { current, responseTimeMs } = known.services.get(service.id) ?? NOT_KNOWN;
            return {
              id: service.id,
              name: service.name,
              ...current,
              responseTimeMs,
              usualResponseTimeMs: usual.get(service.id) ?? null,
              history: found.histories.get(service.id) ?? null,
            };
          }),
        })),
        incidents,
        pastIncidents,
        maintenance: maintenanceOnPage(services, known.nowMs),
      };
    },

    async conditions(key) {
      await outdatedStates.refresh({ accountId: key.accountId, checkId: null });
      return readSnapshot(store, async (sql) => {
        const known = await readPage(sql, key);
        if (known === null) return null;
        const services = [...known.services].map(
          ([id, { current }]) => [id, current.condition] as const,
        );
        return { condition: known.condition, services: new Map(services) };
      });
    },
  };
}

/** Never used, because a snapshot contains the service of every card. */
const NOT_KNOWN = {
  current: { condition: 'UNKNOWN', sinceMs: null } satisfies TimedCondition,
  responseTimeMs: null,
};

function knownService(
  measurement: Measurement,
  incidents: readonly PublicIncident[],
  nowMs: number,
): KnownService {
  const { service, checks, isMeasured, ownWindows } = measurement;
  const open = incidents
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map(({ severity, startedAt }) => ({ severity, startedAtMs: +startedAt }));
  const byIncidents = conditionByIncidents(open);
  const byChecks = conditionByChecks(
    service.failureRule,
    checks.map((check) =>
      conditionOfCheck(check, service, { nowMs, maintenanceSinceMs: runningSince(check.windows) }),
    ),
  );
  const ownSinceMs = runningSince(ownWindows);
  const announced: TimedCondition[] =
    isMeasured && ownSinceMs !== null ? [{ condition: 'MAINTENANCE', sinceMs: ownSinceMs }] : [];
  const current = [...(isMeasured ? [byChecks] : []), ...announced].reduce(worse, byIncidents);
  return {
    ...measurement,
    incidents,
    windows: [...new Set([...ownWindows, ...checks.flatMap(({ windows }) => windows)])],
    current,
  };
}

function historyQueryOf(
  { accountId, id }: AccountKey,
  { services, windowsVersion, nowMs }: KnownPage,
): HistoryQuery {
  const shown = [...services.values()].filter(({ service }) => service.showUptime);
  return {
    accountId,
    pageId: id,
    windowsVersion,
    nowMs,
    services: shown.map(({ service, checks, windows, incidents }) => ({
      id: service.id,
      rule: service,
      checks,
      windows,
      incidents,
    })),
  };
}
