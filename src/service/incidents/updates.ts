import type { z } from 'zod';
import { instantMsOf } from '../../model/instant.ts';
import { type IncidentUpdate, MAX_INCIDENT_UPDATES } from '../../model/status-page/incident.ts';
import type { PageIncidentUpdate } from '../../model/status-page/status-page-incident.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Sql, Store } from '../database/port.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { givenFields, type Input } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import {
  changeUpdate,
  countUpdates,
  deleteUpdate,
  findUpdate,
  type IncidentFamily,
  type IncidentKey,
  insertUpdates,
  type StoredUpdate,
  type UpdateFields,
} from './updates.sql.ts';

export type { StoredUpdate } from './updates.sql.ts';

/** An update of either family, as its model has it. */
type UpdateBody = IncidentUpdate & Partial<PageIncidentUpdate>;

export interface IncidentUpdatesParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly family: IncidentFamily;
  readonly schema: z.ZodType<UpdateBody>;
  /** How many an incident has at least. */
  readonly least: 0 | 1;
  /** Until the transaction ends, nobody else changes the incident. false where there is none. */
  lock(tx: Sql, incident: IncidentKey): Promise<boolean>;
  /** Draws the consequences for the incident of a change of its updates. */
  settle(tx: Sql, incident: IncidentKey & { readonly atMs: number }): Promise<void>;
}

/** What is told of an incident, in the order in which it was said. */
export interface IncidentUpdates {
  add(accountId: string, incidentId: string, input: Input): Promise<StoredUpdate>;
  change(accountId: string, incidentId: string, id: string, input: Input): Promise<StoredUpdate>;
  remove(accountId: string, incidentId: string, id: string): Promise<void>;
}

const RESPONSE_ONLY = ['incidentId', 'created_at', 'updated_at'];

export function createIncidentUpdates(parts: IncidentUpdatesParts): IncidentUpdates {
  const { store, clock, ids, family, schema, least } = parts;

  async function locked(tx: Sql, accountId: string, incidentId: string): Promise<void> {
    if (!(await parts.lock(tx, { accountId, id: incidentId }))) throw notFound('incident');
  }

  function parsed(input: Input): UpdateFields {
    const update = parseBody(schema, input);
    if (!update.ok) throw invalid(update.problems);
    return fieldsOfUpdate(update.value);
  }

  return {
    async add(accountId, incidentId, input) {
      const fields = parsed(input);
      return store.transaction(async (tx) => {
        await locked(tx, accountId, incidentId);
        const incident = { accountId, id: incidentId };
        if ((await countUpdates(tx, family, incident)) >= MAX_INCIDENT_UPDATES) {
          throw conflict(
            `The incident has ${MAX_INCIDENT_UPDATES} updates, which is the most there can be`,
            { limit: MAX_INCIDENT_UPDATES },
          );
        }
        const id = ids();
        const atMs = clock.wallMs();
        const updates = [{ ...fields, id }];
        await insertUpdates(tx, family, { ...incident, updates, createdAtMs: atMs });
        await parts.settle(tx, { ...incident, atMs });
        return { id, incidentId, fields, createdAt: new Date(atMs), updatedAt: null };
      });
    },

    change(accountId, incidentId, id, input) {
      return store.transaction(async (tx) => {
        await locked(tx, accountId, incidentId);
        const key = { accountId, incidentId, id };
        const stored = await findUpdate(tx, family, key);
        if (stored === null) throw notFound('update of the incident');
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = parsed({ ...bodyOfUpdate(stored.fields, family), ...given });
        const atMs = clock.wallMs();
        await changeUpdate(tx, family, { ...key, fields, updatedAtMs: atMs });
        await parts.settle(tx, { accountId, id: incidentId, atMs });
        return { ...stored, fields, updatedAt: new Date(atMs) };
      });
    },

    async remove(accountId, incidentId, id) {
      await store.transaction(async (tx) => {
        await locked(tx, accountId, incidentId);
        const key = { accountId, incidentId, id };
        if ((await findUpdate(tx, family, key)) === null) throw notFound('update of the incident');
        const incident = { accountId, id: incidentId };
        if ((await countUpdates(tx, family, incident)) <= least) {
          throw conflict(
            'An incident has at least one update: change this one, or add another first',
          );
        }
        await deleteUpdate(tx, family, key);
        await parts.settle(tx, { ...incident, atMs: clock.wallMs() });
      });
    },
  };
}

/** How the store takes it. */
export function fieldsOfUpdate(update: UpdateBody): UpdateFields {
  return {
    status: update.status,
    description: update.description,
    publicAtMs: instantMsOf(update.publicIncidentUpdateDate ?? ''),
    notifySubscribers: update.notifySubscribers ?? false,
  };
}

function bodyOfUpdate(fields: UpdateFields, family: IncidentFamily): Input {
  const { status, description, publicAtMs, notifySubscribers } = fields;
  if (family === 'dashboard') return { status, description };
  const publicIncidentUpdateDate = publicAtMs === null ? null : new Date(publicAtMs).toISOString();
  return { status, description, publicIncidentUpdateDate, notifySubscribers };
}
