import type { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import {
  type Columns,
  deleteIncident,
  findIncident,
  findIncidents,
  type IncidentFilter,
  insertIncident,
  listIncidentEntries,
  lockIncident,
  type StoredIncident,
  updateIncident,
} from './incidents.sql.ts';
import type { IncidentTables } from './tables.sql.ts';
import { insertUpdates, type UpdateFields } from './updates.sql.ts';
import {
  type AnnouncedIds,
  createIncidentUpdates,
  fieldsOfUpdate,
  type IncidentUpdates,
  type UpdateBody,
} from './updates.ts';

export type { IncidentFilter, StoredIncident } from './incidents.sql.ts';

export interface IncidentsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** The differences between the two kinds of incidents. `Fields` are the stored fields, `Body` those of requests. */
export interface IncidentKind<Fields, Body extends object> {
  readonly tables: IncidentTables;
  readonly schemas: {
    readonly incident: z.ZodType<{ readonly incidentUpdates: readonly UpdateBody[] }>;
    /** The fields that an update of the incident may change. */
    readonly changes: z.ZodType<Body>;
    readonly update: z.ZodObject & z.ZodType<UpdateBody>;
  };
  /** Fields of the response that an update of the incident may repeat. */
  readonly responseOnly: readonly string[];
  /** How many updates an incident has at least. */
  readonly minUpdates: 0 | 1;
  /** The fields of a new incident where the caller omits them. */
  readonly defaultsAt?: (nowMs: number) => Partial<Body>;
  readonly bodyOf: (stored: Fields) => Body;
  readonly columnsOf: (fields: Body) => Columns;
  /** Columns that are stored only with a new incident. */
  readonly columnsOfNew?: (updates: readonly UpdateFields[]) => Columns;
  /** Called after updates were stored: notifies subscribers of those with `notifySubscribers`. */
  readonly announce?: (tx: Sql, announced: AnnouncedIds) => Promise<void>;
  /** Called if the caller gives `services`. @throws ServiceError 400 where one does not exist */
  readonly saveServices?: (tx: Sql, incident: AccountKey, fields: Body) => Promise<void>;
  /** Called after an update is saved. @throws ServiceError to undo it */
  readonly updated?: (
    tx: Sql,
    incident: AccountKey,
    change: { readonly before: Fields; readonly after: Body; readonly atMs: number },
  ) => Promise<void>;
}

/** Incidents of one kind: src/service/README.md, "Status pages and incidents". */
export interface Incidents<Fields> {
  readonly updates: IncidentUpdates<Fields>;
  /** The result has all updates. */
  create(accountId: string, input: RawBody): Promise<StoredIncident<Fields>>;
  read(
    key: AccountKey,
    query: { readonly includeAllIncidentUpdates: boolean },
  ): Promise<StoredIncident<Fields>>;
  /** Each with its first update, in slices. */
  list(
    accountId: string,
    query: Page & IncidentFilter,
  ): AsyncGenerator<readonly StoredIncident<Fields>[]>;
  /** Each given field replaces the stored one as a whole. `updates` changes its updates. */
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<StoredIncident<Fields>>,
  ): Promise<StoredIncident<Fields>>;
  remove(key: AccountKey, precondition?: Precondition<StoredIncident<Fields>>): Promise<void>;
}

export function createIncidents<Fields, Body extends object>(
  { store, clock, ids }: IncidentsParts,
  kind: IncidentKind<Fields, Body>,
): Incidents<Fields> {
  const { tables, schemas, minUpdates } = kind;

  async function find(
    sql: Sql,
    key: AccountKey,
    read: 'all' | 'first',
  ): Promise<StoredIncident<Fields>> {
    const found = await findIncident<Fields>(sql, tables, { ...key, read });
    if (found === null) throw notFound('incident');
    return found;
  }

  return {
    updates: createIncidentUpdates({
      store,
      clock,
      ids,
      tables,
      schema: schemas.update,
      minUpdates,
      announce: kind.announce,
    }),

    async create(accountId, input) {
      const createdAtMs = clock.wallMs();
      const { incidentUpdates, ...given } = validBody(schemas.incident, input);
      const fields = validBody(schemas.changes, { ...kind.defaultsAt?.(createdAtMs), ...given });
      return store.transaction(async (tx) => {
        const key = { accountId, id: ids() };
        const updates = incidentUpdates.map((update) => ({ ...fieldsOfUpdate(update), id: ids() }));
        const columns = { ...kind.columnsOf(fields), ...kind.columnsOfNew?.(updates) };
        await insertIncident(tx, tables, { ...key, columns, createdAtMs });
        await kind.saveServices?.(tx, key, fields);
        await insertUpdates(tx, tables, { ...key, updates, createdAtMs });
        const updateIds = updates.map((update) => update.id);
        await kind.announce?.(tx, { accountId, updateIds, atMs: createdAtMs });
        return find(tx, key, 'all');
      });
    },

    read(key, { includeAllIncidentUpdates }) {
      return find(store, key, includeAllIncidentUpdates ? 'all' : 'first');
    },

    async *list(accountId, { isOpen, isNewestFirst, ...page }) {
      const filter = { accountId, isOpen, isNewestFirst };
      const entries = await listIncidentEntries(store, tables, { ...filter, ...rangeOf(page) });
      yield* inSlices(entries, (ids) => findIncidents<Fields>(store, tables, { accountId, ids }));
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        const key = { accountId, id };
        if (!(await lockIncident(tx, tables, key))) throw notFound('incident');
        const { responseOnly } = kind;
        const given = givenFields(input, { fixed: { id }, responseOnly });
        const stored = await find(tx, key, 'first');
        precondition?.(stored, await find(tx, key, 'all'));
        const fields = validBody(schemas.changes, { ...kind.bodyOf(stored), ...given });
        if (given.services !== undefined) await kind.saveServices?.(tx, key, fields);
        const columns = kind.columnsOf(fields);
        const atMs = clock.wallMs();
        await updateIncident(tx, tables, { ...key, columns, updatedAtMs: atMs });
        await kind.updated?.(tx, key, { before: stored, after: fields, atMs });
        return find(tx, key, 'all');
      });
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        if (!(await lockIncident(tx, tables, key))) throw notFound('incident');
        precondition?.(await find(tx, key, 'first'), await find(tx, key, 'all'));
        await deleteIncident(tx, tables, key);
      });
    },
  };
}
