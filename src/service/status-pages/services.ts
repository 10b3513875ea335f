import {
  type StatusPageService,
  statusPageServiceSchema,
} from '../../model/status-page/status-page.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/port.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { givenFields, type Input } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { openIncidentsNaming } from '../incidents/exports.ts';
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

/** What cards show and incidents concern. */
export interface StatusPageServices {
  create(accountId: string, input: Input): Promise<StoredService>;
  read(accountId: string, id: string): Promise<StoredService>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly StoredService[]>;
  update(accountId: string, id: string, input: Input): Promise<StoredService>;
  /**
   * Cards and past incidents lose it.
   *
   * @throws ServiceError 409 while an open incident names it: readers would see that end unsaid
   */
  remove(accountId: string, id: string): Promise<void>;
}

const NOUN = 'service of status pages';
const RESPONSE_ONLY = ['accountId', 'created_at', 'updated_at'];
/** So many of the incidents that stand against a deletion are named. */
const MAX_NAMED = 10;

export function createStatusPageServices({
  store,
  clock,
  ids,
}: StatusPageServicesParts): StatusPageServices {
  return {
    async create(accountId, input) {
      const fields = wholeService(input);
      const id = ids();
      const createdAtMs = clock.wallMs();
      await insertService(store, { accountId, id, fields, createdAtMs });
      return { id, accountId, fields, createdAt: new Date(createdAtMs), updatedAt: null };
    },

    async read(accountId, id) {
      const found = await findService(store, { accountId, id });
      if (found === null) throw notFound(NOUN);
      return found;
    },

    list(accountId, page) {
      return listServices(store, { accountId, ...rangeOf(page) });
    },

    update(accountId, id, input) {
      return store.transaction(async (tx) => {
        const stored = await lockService(tx, { accountId, id });
        if (stored === null) throw notFound(NOUN);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = wholeService({ ...stored.fields, ...given });
        const updatedAtMs = clock.wallMs();
        await updateService(tx, { accountId, id, fields, updatedAtMs });
        return { ...stored, fields, updatedAt: new Date(updatedAtMs) };
      });
    },

    async remove(accountId, id) {
      await store.transaction(async (tx) => {
        const stored = await lockService(tx, { accountId, id });
        if (stored === null) throw notFound(NOUN);
        const naming = { accountId, serviceId: id, limit: MAX_NAMED };
        const incidents = await openIncidentsNaming(tx, naming);
        if (incidents.length > 0) {
          const shown = incidents.join(', ');
          throw conflict(
            `The service is named by open incidents (${shown}); resolve them or take it from them first`,
            { incidents },
          );
        }
        await deleteService(tx, { accountId, id });
      });
    },
  };
}

function wholeService(fields: Input): StatusPageService {
  const parsed = parseBody(statusPageServiceSchema, fields);
  if (!parsed.ok) throw invalid(parsed.problems);
  return parsed.value;
}
