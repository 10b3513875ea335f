import { CHECK_ID } from '../../model/ids.ts';
import {
  type StatusPageService,
  serviceProblems,
  statusPageServiceSchema,
} from '../../model/status-page/status-page.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lockChecksShared } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound, type RequestProblem } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { openIncidentsNaming } from '../incidents/shared.sql.ts';
import {
  deleteService,
  findService,
  insertService,
  listServices,
  lockService,
  type MeasuringKind,
  replaceServiceChecks,
  type StoredService,
  updateService,
} from './services.sql.ts';

export type { CardService, StoredService } from './services.sql.ts';

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
   * Deletes the service, and removes it from cards and resolved incidents.
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
  async function whole(sql: Sql, key: AccountKey): Promise<StoredService> {
    const found = await findService(sql, key);
    if (found === null) throw notFound(NOUN);
    return found;
  }

  return {
    async create(accountId, input) {
      const key = { accountId, id: ids() };
      const service = wholeService(input);
      return store.transaction(async (tx) => {
        const types = await lockChecksShared(tx, { accountId, ids: checkIdsIn(input) });
        await insertService(tx, { ...key, service, createdAtMs: clock.wallMs() });
        await saveChecks(tx, key, { service, given: input, types });
        return whole(tx, key);
      });
    },

    read: (key) => whole(store, key),

    list(accountId, page) {
      return listServices(store, { accountId, ...rangeOf(page) });
    },

    update({ accountId, id }, input, precondition) {
      const key = { accountId, id };
      return store.transaction(async (tx) => {
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const types = await lockChecksShared(tx, { accountId, ids: checkIdsIn(given) });
        if (!(await lockService(tx, key))) throw notFound(NOUN);
        const stored = await whole(tx, key);
        precondition?.(stored);
        const service = wholeService({ ...fieldsOf(stored), ...given });
        await updateService(tx, { ...key, service, updatedAtMs: clock.wallMs() });
        await saveChecks(tx, key, { service, given, types });
        return whole(tx, key);
      });
    },

    async remove({ accountId, id }, precondition) {
      await store.transaction(async (tx) => {
        if (!(await lockService(tx, { accountId, id }))) throw notFound(NOUN);
        precondition?.(await whole(tx, { accountId, id }));
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

function fieldsOf({
  id: _,
  accountId: __,
  createdAt: ___,
  updatedAt: ____,
  ...fields
}: StoredService): StatusPageService {
  return fields;
}

function wholeService(input: RawBody): StatusPageService {
  const service = validBody(statusPageServiceSchema, input);
  const problems = serviceProblems(service);
  if (problems.length > 0) {
    throw invalid(problems.map(({ field, message }) => bodyProblem([field], message)));
  }
  return service;
}

const MEASURING = [
  { kind: 'checks', field: 'checkIds', noun: 'a check that is not a heartbeat' },
  { kind: 'heartbeats', field: 'heartbeatIds', noun: 'a heartbeat' },
] as const satisfies readonly { readonly kind: MeasuringKind; readonly [name: string]: string }[];

/** The ids of the checks that a body names, before it is validated. */
function checkIdsIn(input: RawBody): readonly string[] {
  const named = MEASURING.flatMap(({ field }): unknown => input[field]);
  return named.filter((id): id is string => typeof id === 'string' && CHECK_ID.test(id));
}

/**
 * Saves the lists that were given. The others stay as they are: their checks may be deleted at any time.
 *
 * @param checks `types` are those of the locked checks, by id
 * @throws ServiceError 400 naming each id that is none of the account's checks of the kind
 */
async function saveChecks(
  tx: Sql,
  key: AccountKey,
  {
    service,
    given,
    types,
  }: {
    readonly service: StatusPageService;
    readonly given: RawBody;
    readonly types: ReadonlyMap<string, string>;
  },
): Promise<void> {
  const lists = MEASURING.filter(({ field }) => given[field] !== undefined);
  const problems = lists.flatMap(({ kind, field, noun }) =>
    service[field].flatMap((id, index): RequestProblem[] => {
      const type = types.get(id);
      const isOfKind = type !== undefined && (type === 'HEARTBEAT') === (kind === 'heartbeats');
      return isOfKind ? [] : [bodyProblem([field, index], `must be the id of ${noun}`)];
    }),
  );
  if (problems.length > 0) throw invalid(problems);
  for (const { kind, field } of lists) {
    await replaceServiceChecks(tx, { ...key, kind, checkIds: service[field] });
  }
}
