import type { z } from 'zod';
import {
  type IncidentUpdate,
  MAX_INCIDENT_UPDATES,
} from '../../model/incident/dashboard-incident.ts';
import type { PageIncidentUpdate } from '../../model/incident/status-page-incident.ts';
import { instantMsOf } from '../../model/instant.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import { findIncident, lockIncident, type StoredIncident, touchIncident } from './incidents.sql.ts';
import type { IncidentTables } from './tables.sql.ts';
import {
  changeUpdate,
  countUpdates,
  deleteUpdate,
  findUpdate,
  insertUpdates,
  type StoredUpdate,
  type UpdateFields,
} from './updates.sql.ts';

export type { StoredUpdate } from './updates.sql.ts';

/** An update of either kind of incidents, as a caller writes it. */
export type UpdateBody = IncidentUpdate & Partial<PageIncidentUpdate>;

/** Updates that were stored. */
export interface AnnouncedIds {
  readonly accountId: string;
  readonly updateIds: readonly string[];
  readonly atMs: number;
}

export interface IncidentUpdatesParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly tables: IncidentTables;
  readonly schema: z.ZodObject & z.ZodType<UpdateBody>;
  /** How many an incident has at least. */
  readonly minUpdates: 0 | 1;
  readonly announce: ((tx: Sql, announced: AnnouncedIds) => Promise<void>) | undefined;
}

/** A precondition on the update as responses show it, if it exists already, and on its incident. */
export type UpdatePrecondition<Fields> = Precondition<StoredUpdate | StoredIncident<Fields>>;

/** The updates of incidents of one kind, oldest first. */
export interface IncidentUpdates<Fields> {
  add(
    accountId: string,
    incidentId: string,
    input: RawBody,
    precondition?: UpdatePrecondition<Fields>,
  ): Promise<StoredUpdate>;
  change(
    accountId: string,
    incidentId: string,
    id: string,
    input: RawBody,
    precondition?: UpdatePrecondition<Fields>,
  ): Promise<StoredUpdate>;
  remove(
    accountId: string,
    incidentId: string,
    id: string,
    precondition?: UpdatePrecondition<Fields>,
  ): Promise<void>;
}

export const UPDATE_RESPONSE_ONLY = ['incidentId', 'created_at', 'updated_at'];

export function createIncidentUpdates<Fields>({
  store,
  clock,
  ids,
  tables,
  schema,
  minUpdates,
  announce,
}: IncidentUpdatesParts): IncidentUpdates<Fields> {
  async function lock(tx: Sql, accountId: string, incidentId: string): Promise<void> {
    if (!(await lockIncident(tx, tables, { accountId, id: incidentId }))) {
      throw notFound('incident');
    }
  }

  async function requireUnchanged(
    tx: Sql,
    precondition: UpdatePrecondition<Fields> | undefined,
    { accountId, id }: AccountKey,
    update: StoredUpdate | null,
  ): Promise<void> {
    if (precondition === undefined) return;
    const views = [];
    for (const read of ['first', 'all'] as const) {
      const incident = await findIncident<Fields>(tx, tables, { accountId, id, read });
      if (incident !== null) views.push(incident);
    }
    precondition(...(update === null ? [] : [update]), ...views);
  }

  function parse(input: RawBody): UpdateFields {
    const update = parseBody(schema, input);
    if (!update.ok) throw invalid(update.problems);
    return fieldsOfUpdate(update.value);
  }

  function bodyOf({ publicAt, ...fields }: UpdateFields): RawBody {
    const all = { ...fields, publicIncidentUpdateDate: publicAt?.toISOString() ?? null };
    return Object.fromEntries(Object.entries(all).filter(([field]) => field in schema.shape));
  }

  return {
    async add(accountId, incidentId, input, precondition) {
      const fields = parse(input);
      return store.transaction(async (tx) => {
        await lock(tx, accountId, incidentId);
        const incident = { accountId, id: incidentId };
        await requireUnchanged(tx, precondition, incident, null);
        if ((await countUpdates(tx, tables, incident)) >= MAX_INCIDENT_UPDATES) {
          throw conflict(
            `The incident already has the maximum of ${MAX_INCIDENT_UPDATES} updates`,
            { limit: MAX_INCIDENT_UPDATES },
          );
        }
        const update = { ...fields, id: ids() };
        const atMs = clock.wallMs();
        await insertUpdates(tx, tables, { ...incident, updates: [update], createdAtMs: atMs });
        await announce?.(tx, { accountId, updateIds: [update.id], atMs });
        await touchIncident(tx, tables, { ...incident, atMs });
        return { ...update, incidentId, createdAt: new Date(atMs), updatedAt: null };
      });
    },

    change(accountId, incidentId, id, input, precondition) {
      return store.transaction(async (tx) => {
        await lock(tx, accountId, incidentId);
        const key = { accountId, incidentId, id };
        const stored = await findUpdate(tx, tables, key);
        if (stored === null) throw notFound('update of the incident');
        await requireUnchanged(tx, precondition, { accountId, id: incidentId }, stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: UPDATE_RESPONSE_ONLY });
        const fields = parse({ ...bodyOf(stored), ...given });
        const atMs = clock.wallMs();
        await changeUpdate(tx, tables, { ...key, fields, updatedAtMs: atMs });
        await announce?.(tx, { accountId, updateIds: [id], atMs });
        await touchIncident(tx, tables, { accountId, id: incidentId, atMs });
        return { ...stored, ...fields, updatedAt: new Date(atMs) };
      });
    },

    async remove(accountId, incidentId, id, precondition) {
      await store.transaction(async (tx) => {
        await lock(tx, accountId, incidentId);
        const key = { accountId, incidentId, id };
        const stored = await findUpdate(tx, tables, key);
        if (stored === null) throw notFound('update of the incident');
        const incident = { accountId, id: incidentId };
        await requireUnchanged(tx, precondition, incident, stored);
        if ((await countUpdates(tx, tables, incident)) <= minUpdates) {
          throw conflict(
            'An incident has at least one update: change this one, or add another first',
          );
        }
        await deleteUpdate(tx, tables, key);
        await touchIncident(tx, tables, { ...incident, atMs: clock.wallMs() });
      });
    },
  };
}

/** As the database stores it. */
export function fieldsOfUpdate(update: UpdateBody): UpdateFields {
  const publicAtMs = instantMsOf(update.publicIncidentUpdateDate ?? '');
  return {
    status: update.status,
    description: update.description,
    publicAt: publicAtMs === null ? null : new Date(publicAtMs),
    notifySubscribers: update.notifySubscribers ?? false,
  };
}
