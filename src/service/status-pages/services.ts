import { statusPageServiceSchema } from '../../model/status-page/status-page.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { openIncidentsNaming } from '../incidents/shared.sql.ts';
import {
  deleteService,
  findService,
  insertService,
  listServices,
  lockService,
  type StoredService,
  updateService,
} from './services.sql.ts';

export type { StoredService } from './services.sql.ts';

export interface StatusPageServicesParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** The services that cards of status pages show and incidents name. */
export interface StatusPageServices {
  create(accountId: string, input: RawBody): Promise<StoredService>;
  read(key: AccountKey): Promise<StoredService>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly StoredService[]>;
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<StoredService>,
  ): Promise<StoredService>;
  /**
   * Removes the service from cards and resolved incidents, too.
   *
   * @throws ServiceError 409 while an open incident names it: readers would never see it resolved
   */
  remove(key: AccountKey, precondition?: Precondition<StoredService>): Promise<void>;
}

const NOUN = 'service of status pages';
const RESPONSE_ONLY = ['accountId', 'created_at', 'updated_at'];
/** A refused deletion names at most this many incidents. */
const MAX_NAMED = 10;

export function createStatusPageServices({
  store,
  clock,
  ids,
}: StatusPageServicesParts): StatusPageServices {
  return {
    async create(accountId, input) {
      const key = { accountId, id: ids() };
      const { name } = validBody(statusPageServiceSchema, input);
      const createdAtMs = clock.wallMs();
      return store.transaction(async (tx) => {
        await insertService(tx, { ...key, name, createdAtMs });
        return { ...key, name, createdAt: new Date(createdAtMs), updatedAt: null };
      });
    },

    async read(key) {
      const found = await findService(store, key);
      if (found === null) throw notFound(NOUN);
      return found;
    },

    list(accountId, page) {
      return listServices(store, { accountId, ...rangeOf(page) });
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        const stored = await lockService(tx, { accountId, id });
        if (stored === null) throw notFound(NOUN);
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const { name } = validBody(statusPageServiceSchema, { name: stored.name, ...given });
        const updatedAtMs = clock.wallMs();
        await updateService(tx, { accountId, id, name, updatedAtMs });
        return { ...stored, name, updatedAt: new Date(updatedAtMs) };
      });
    },

    async remove({ accountId, id }, precondition) {
      await store.transaction(async (tx) => {
        const stored = await lockService(tx, { accountId, id });
        if (stored === null) throw notFound(NOUN);
        precondition?.(stored);
        const naming = { accountId, serviceId: id, limit: MAX_NAMED };
        const incidents = await openIncidentsNaming(tx, naming);
        if (incidents.length > 0) {
          throw conflict(
            `Open incidents name the service (${incidents.join(', ')}): resolve them, or remove it from them, first`,
            { incidents },
          );
        }
        await deleteService(tx, { accountId, id });
      });
    },
  };
}
