import {
  type PageIncidentFields,
  pageIncidentChangesSchema,
  pageIncidentSchema,
  pageIncidentUpdateSchema,
} from '../../model/status-page/status-page-incident.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sql, Store } from '../database/port.ts';
import { everyHour, removePastRetention } from '../database/retention.ts';
import { invalid, notFound } from '../errors.ts';
import { givenFields, type Input } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { requireServices } from '../status-pages/named-services.ts';
import {
  deletePageIncident,
  findPageIncident,
  insertPageIncident,
  listPageIncidents,
  lockPageIncident,
  replaceIncidentServices,
  type StoredPageIncident,
  settlePageIncident,
  updatePageIncident,
} from './page-incidents.sql.ts';
import { deleteIncidentsOfChecks } from './trigger.sql.ts';
import { insertUpdates } from './updates.sql.ts';
import { createIncidentUpdates, fieldsOfUpdate, type IncidentUpdates } from './updates.ts';

export type { StoredPageIncident } from './page-incidents.sql.ts';

export interface StatusPageIncidentsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** Incidents of services that status pages show. */
export interface StatusPageIncidents {
  readonly updates: IncidentUpdates;
  create(accountId: string, input: Input): Promise<StoredPageIncident>;
  read(
    accountId: string,
    id: string,
    query: { readonly includeAllIncidentUpdates: boolean },
  ): Promise<StoredPageIncident>;
  /** Oldest first, each with its first update. */
  list(accountId: string, page: Page): Promise<readonly StoredPageIncident[]>;
  /** The given fields over the stored ones, each whole. Updates are changed by themselves. */
  update(accountId: string, id: string, input: Input): Promise<StoredPageIncident>;
  remove(accountId: string, id: string): Promise<void>;
  /**
   * Now and then, until the signal aborts, removes what checks opened and what was resolved longer
   * ago than the retention. What people opened stays. Logs what fails.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

const RESPONSE_ONLY = ['lastUpdateStatus', 'incidentUpdates', 'created_at', 'updated_at'];
/** So that no statement takes long: their updates go with them. */
const ROWS_AT_ONCE = 500;

export function createStatusPageIncidents(parts: StatusPageIncidentsParts): StatusPageIncidents {
  const { store, clock, ids } = parts;

  async function holdServices(
    tx: Sql,
    accountId: string,
    { services }: PageIncidentFields,
  ): Promise<void> {
    const problems = await requireServices(tx, accountId, [{ path: ['services'], ids: services }]);
    if (problems.length > 0) throw invalid(problems);
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) => deleteIncidentsOfChecks(store, old),
      signal,
    );
  }

  return {
    updates: createIncidentUpdates({
      store,
      clock,
      ids,
      family: 'status page',
      schema: pageIncidentUpdateSchema,
      least: 1,
      lock: lockPageIncident,
      settle: settlePageIncident,
    }),

    async create(accountId, input) {
      const parsed = parseBody(pageIncidentSchema, input);
      if (!parsed.ok) throw invalid(parsed.problems);
      const { incidentUpdates, ...fields } = parsed.value;
      return store.transaction(async (tx) => {
        await holdServices(tx, accountId, fields);
        const key = { accountId, id: ids() };
        const createdAtMs = clock.wallMs();
        const updates = incidentUpdates.map((update) => ({ ...fieldsOfUpdate(update), id: ids() }));
        const lastUpdateStatus = updates.at(-1)?.status ?? 'INVESTIGATING';
        await insertPageIncident(tx, { ...key, fields, lastUpdateStatus, createdAtMs });
        await replaceIncidentServices(tx, { ...key, serviceIds: fields.services });
        await insertUpdates(tx, 'status page', { ...key, updates, createdAtMs });
        return whole(await findPageIncident(tx, key, 'all'));
      });
    },

    async read(accountId, id, { includeAllIncidentUpdates }) {
      const read = includeAllIncidentUpdates ? 'all' : 'first';
      return whole(await findPageIncident(store, { accountId, id }, read));
    },

    list(accountId, page) {
      return listPageIncidents(store, { accountId, ...rangeOf(page) });
    },

    update(accountId, id, input) {
      return store.transaction(async (tx) => {
        const key = { accountId, id };
        if (!(await lockPageIncident(tx, key))) throw notFound('incident');
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const stored = whole(await findPageIncident(tx, key, 'first'));
        const parsed = parseBody(pageIncidentChangesSchema, { ...stored.fields, ...given });
        if (!parsed.ok) throw invalid(parsed.problems);
        const fields = parsed.value;
        if (given.services !== undefined) {
          await holdServices(tx, accountId, fields);
          await replaceIncidentServices(tx, { ...key, serviceIds: fields.services });
        }
        await updatePageIncident(tx, { ...key, fields, updatedAtMs: clock.wallMs() });
        return whole(await findPageIncident(tx, key, 'all'));
      });
    },

    async remove(accountId, id) {
      if (!(await deletePageIncident(store, { accountId, id }))) throw notFound('incident');
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'incidents past their retention could not be removed',
        () => removeOld(signal),
        signal,
      );
    },
  };
}

function whole(found: StoredPageIncident | null): StoredPageIncident {
  if (found === null) throw notFound('incident');
  return found;
}
