import { instantMsOf, spacedTime } from '../../model/instant.ts';
import {
  type IncidentFields,
  incidentChangesSchema,
  incidentSchema,
  incidentUpdateSchema,
} from '../../model/status-page/incident.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/port.ts';
import { invalid, notFound } from '../errors.ts';
import { givenFields, type Input } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  type DashboardIncidentFields,
  deleteIncident,
  findIncident,
  insertIncident,
  listIncidents,
  lockIncident,
  type StoredIncident,
  touchIncident,
  updateIncident,
} from './dashboard-incidents.sql.ts';
import { insertUpdates } from './updates.sql.ts';
import { createIncidentUpdates, fieldsOfUpdate, type IncidentUpdates } from './updates.ts';

export type { StoredIncident } from './dashboard-incidents.sql.ts';

export interface IncidentsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** Incidents of dashboards: src/service/README.md, "Status pages and incidents". */
export interface Incidents {
  readonly updates: IncidentUpdates;
  /** The answer has all its updates. */
  create(accountId: string, input: Input): Promise<StoredIncident>;
  read(
    accountId: string,
    id: string,
    query: { readonly includeAllIncidentUpdates: boolean },
  ): Promise<StoredIncident>;
  /** Oldest first, each with its first update. */
  list(accountId: string, page: Page): Promise<readonly StoredIncident[]>;
  /** The given fields over the stored ones. Updates are changed by themselves. */
  update(accountId: string, id: string, input: Input): Promise<StoredIncident>;
  remove(accountId: string, id: string): Promise<void>;
}

const RESPONSE_ONLY = ['incidentUpdates', 'created_at', 'updated_at'];
const SECOND_MS = 1000;

export function createIncidents({ store, clock, ids }: IncidentsParts): Incidents {
  return {
    updates: createIncidentUpdates({
      store,
      clock,
      ids,
      family: 'dashboard',
      schema: incidentUpdateSchema,
      least: 0,
      lock: lockIncident,
      settle: touchIncident,
    }),

    async create(accountId, input) {
      const parsed = parseBody(incidentSchema, input);
      if (!parsed.ok) throw invalid(parsed.problems);
      const { incidentUpdates, ...given } = parsed.value;
      const createdAtMs = clock.wallMs();
      const fields = wholeIncident({
        ...given,
        startedAt: given.startedAt ?? spacedTime(createdAtMs),
      });
      return store.transaction(async (tx) => {
        const key = { accountId, id: ids() };
        const updates = incidentUpdates.map((update) => ({ ...fieldsOfUpdate(update), id: ids() }));
        await insertIncident(tx, { ...key, fields, createdAtMs });
        await insertUpdates(tx, 'dashboard', { ...key, updates, createdAtMs });
        return found(await findIncident(tx, key, 'all'));
      });
    },

    async read(accountId, id, { includeAllIncidentUpdates }) {
      const read = includeAllIncidentUpdates ? 'all' : 'first';
      return found(await findIncident(store, { accountId, id }, read));
    },

    list(accountId, page) {
      return listIncidents(store, { accountId, ...rangeOf(page) });
    },

    update(accountId, id, input) {
      return store.transaction(async (tx) => {
        const key = { accountId, id };
        if (!(await lockIncident(tx, key))) throw notFound('incident');
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const stored = found(await findIncident(tx, key, 'first'));
        const fields = wholeIncident({ ...bodyOf(stored.fields), ...given });
        await updateIncident(tx, { ...key, fields, updatedAtMs: clock.wallMs() });
        return found(await findIncident(tx, key, 'all'));
      });
    },

    async remove(accountId, id) {
      if (!(await deleteIncident(store, { accountId, id }))) throw notFound('incident');
    },
  };
}

function wholeIncident(fields: Input): DashboardIncidentFields {
  const parsed = parseBody(incidentChangesSchema, fields);
  if (!parsed.ok) throw invalid(parsed.problems);
  const { name, impact, dashboardId, startedAt, stoppedAt } = parsed.value;
  return {
    name,
    impact,
    dashboardId,
    startedAtMs: wholeSecond(instantMsOf(startedAt ?? '') ?? 0),
    stoppedAtMs: stoppedAt === null ? null : wholeSecond(instantMsOf(stoppedAt) ?? 0),
  };
}

/** The format of the times has no part of a second, so none is kept that nobody could see. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

function bodyOf(fields: DashboardIncidentFields): IncidentFields {
  const { name, impact, dashboardId, startedAtMs, stoppedAtMs } = fields;
  return {
    name,
    impact,
    dashboardId,
    startedAt: spacedTime(startedAtMs),
    stoppedAt: stoppedAtMs === null ? null : spacedTime(stoppedAtMs),
  };
}

function found(incident: StoredIncident | null): StoredIncident {
  if (incident === null) throw notFound('incident');
  return incident;
}
