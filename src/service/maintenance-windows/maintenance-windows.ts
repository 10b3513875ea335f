import {
  fieldsOfWindow,
  type MaintenanceWindow,
  maintenanceWindowOf,
  maintenanceWindowSchema,
  windowProblems,
} from '../../model/schedule/maintenance-window.ts';
import type { Pause } from '../../model/schedule/pause.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Allowance } from '../accounts/allowance.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  countWindows,
  deleteWindow,
  findWindow,
  type InstantFilter,
  insertWindow,
  listWindows,
  MAX_CURRENT_WINDOWS,
  pausesOf,
  REPORTED_AFTER_END_MS,
  type StoredWindow,
  updateWindow,
} from './sql.ts';

export type {
  InstantComparison,
  InstantFilter,
  StoredWindow,
} from './sql.ts';

export interface MaintenanceWindowsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly allowance: Allowance;
}

export interface WindowQuery extends Page {
  /** Filters by the first occurrence; null for no filter. */
  readonly startsAt: InstantFilter | null;
  readonly endsAt: InstantFilter | null;
}

/**
 * When checks skip their slots, and when their alerts are silent (src/service/README.md,
 * "Maintenance windows").
 */
export interface MaintenanceWindows {
  create(accountId: string, input: RawBody): Promise<StoredWindow>;
  read(key: AccountKey<number>): Promise<StoredWindow>;
  /** Oldest first. */
  list(accountId: string, query: WindowQuery): Promise<readonly StoredWindow[]>;
  /** Each given field replaces the stored one as a whole. */
  update(
    key: AccountKey<number>,
    input: RawBody,
    precondition?: Precondition<StoredWindow>,
  ): Promise<StoredWindow>;
  remove(key: AccountKey<number>, precondition?: Precondition<StoredWindow>): Promise<void>;
  /** The pauses that the agents of the account get. */
  pausesForAgents(sql: Sql, accountId: string): Promise<readonly Pause[]>;
}

const RESPONSE_ONLY = ['created_at', 'updated_at'];

/** Includes past windows: a user who creates one for each deployment must delete old ones. */
const MAX_WINDOWS = 10_000;
/** Maximum size of the tags of all current windows: agents get them in one response. */
const MAX_TAG_BYTES = 1024 * 1024;

export function createMaintenanceWindows({
  store,
  clock,
  allowance,
}: MaintenanceWindowsParts): MaintenanceWindows {
  /** Call it after a change, in the same transaction. */
  const requireLimits = async (tx: Sql, accountId: string): Promise<void> => {
    const atMs = clock.wallMs() - REPORTED_AFTER_END_MS;
    const { all, current, tagBytes } = await countWindows(tx, { accountId, atMs });
    if (all > MAX_WINDOWS) {
      const message = `An account has at most ${MAX_WINDOWS} maintenance windows; delete some that are over`;
      throw conflict(message, { limit: MAX_WINDOWS });
    }
    if (current > MAX_CURRENT_WINDOWS) {
      const message = `At most ${MAX_CURRENT_WINDOWS} maintenance windows may be current, upcoming, or ended in the last 8 days; delete some or use a recurring window`;
      throw conflict(message, { limit: MAX_CURRENT_WINDOWS });
    }
    if (tagBytes > MAX_TAG_BYTES) {
      const message = `The tags of all maintenance windows that are not over take more than ${MAX_TAG_BYTES} bytes; use fewer tags`;
      throw conflict(message, { limitBytes: MAX_TAG_BYTES });
    }
  };

  return {
    async create(accountId, input) {
      const window = wholeWindow(input);
      return store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        await allowance.grow(tx, accountId, 'maintenanceWindows');
        const created = await insertWindow(tx, { accountId, window, atMs: clock.wallMs() });
        await requireLimits(tx, accountId);
        return created;
      });
    },

    async read(key) {
      const found = await findWindow(store, key);
      if (found === null) throw notFound('maintenance window');
      return found;
    },

    list(accountId, query) {
      return listWindows(store, { accountId, ...query, ...rangeOf(query) });
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const stored = await findWindow(tx, { accountId, id });
        if (stored === null) throw notFound('maintenance window');
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const window = wholeWindow({ ...fieldsOfWindow(stored.window), ...given });
        const atMs = clock.wallMs();
        const updated = await updateWindow(tx, { accountId, id, window, atMs });
        // The window was deleted after it was read.
        if (updated === null) throw notFound('maintenance window');
        await requireLimits(tx, accountId);
        return updated;
      });
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        // Blocks updates, which also lock the account.
        await lockAccount(tx, key.accountId);
        const stored = await findWindow(tx, key);
        if (stored === null) throw notFound('maintenance window');
        precondition?.(stored);
        await deleteWindow(tx, key);
      });
    },

    pausesForAgents(sql, accountId) {
      return pausesOf(sql, { accountId, atMs: clock.wallMs() });
    },
  };
}

function wholeWindow(input: RawBody): MaintenanceWindow {
  const window = maintenanceWindowOf(validBody(maintenanceWindowSchema, input));
  const problems = windowProblems(window);
  if (problems.length > 0) {
    throw invalid(problems.map(({ field, message }) => bodyProblem([field], message)));
  }
  return window;
}
