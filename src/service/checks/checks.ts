import type { Check } from '../../model/check/check.ts';
import type { RunnableCheckType, StoredCheckType } from '../../model/enums.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, unlimited } from '../accounts/allowance.ts';
import {
  firstSubscriptions,
  replaceSubscriptions,
} from '../alerts/channels/check-subscriptions.ts';
import {
  type CheckWithChannels,
  checksWithChannels,
  checkWithChannels,
  withoutSubscriptions,
} from '../alerts/channels/check-with-channels.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import type { OutdatedStates } from '../results/statuses/outdated-states.ts';

import {
  type CheckInput,
  changesIn,
  createCheckChanges,
  refuseIncomplete,
  refuseMasks,
  refuseReservedId,
  refuseType,
  wholeCheck,
} from './check-input.ts';
import { lockReferences } from './check-references.ts';
import {
  type CheckCriteria,
  canMatch,
  requireMatching,
  type SelectedCheck,
} from './check-selection.ts';
import { withWarnings } from './check-warnings.ts';
import { selectByFilter, selectByIds } from './selection.sql.ts';
import {
  deleteCheck,
  findCheck,
  findChecks,
  insertCheck,
  listCheckEntries,
  lockCheck,
  type StoredCheck,
  sealedVariablesOf,
  updateCheck,
} from './sql.ts';
import type { CheckVariables } from './variables/check-variables.ts';

export type { CheckWithChannels } from '../alerts/channels/check-with-channels.ts';

export interface ChecksParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly checkVariables: CheckVariables;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
  /** Default: no limits. */
  readonly allowance?: Allowance;
}

export type CheckQuery = Page & CheckCriteria;

/**
 * The checks of an account. With `type`, only checks of that type are found. Heartbeats are listed, read
 * and removed here, too; heartbeats/heartbeats.ts creates and changes them, and a change here is refused
 * with 409.
 */
export interface Checks {
  /** Creates a check with a new UUID. `input` contains the checkType. */
  create(accountId: string, input: CheckInput, options: CreateOptions): Promise<CheckWithChannels>;
  read(key: AccountKey, type?: StoredCheckType): Promise<CheckWithChannels>;
  /** Lists checks, oldest first, in slices: a page of the largest checks has hundreds of megabytes. */
  list(accountId: string, query: CheckQuery): AsyncIterable<readonly CheckWithChannels[]>;
  /** Replaces the given fields, each as a whole, and validates the result. */
  update(key: AccountKey, input: CheckInput, options?: ChangeOptions): Promise<CheckWithChannels>;
  /** Like `update`, but creates a check that does not exist under the given id. */
  put(key: AccountKey, input: CheckInput, options: PutOptions): Promise<CheckWithChannels>;
  remove(
    key: AccountKey,
    options?: Omit<ChangeOptions, 'type'> & { readonly type?: StoredCheckType },
  ): Promise<void>;
  /** Returns an entry for each id, in their order, also for ids that no check has. */
  selectIds(accountId: string, ids: readonly string[]): Promise<readonly SelectedCheck[]>;
  /** Returns the oldest matching checks, and the number of all that match. */
  selectMatching(
    accountId: string,
    criteria: CheckCriteria,
    limit: number,
  ): Promise<{ readonly total: number; readonly found: readonly SelectedCheck[] }>;
}

/** A precondition on the check as GET shows it; gets no view if the check does not exist. */
export type CheckPrecondition = Precondition<CheckWithChannels> | undefined;

export interface ChangeOptions {
  readonly type?: RunnableCheckType | undefined;
  readonly precondition?: CheckPrecondition;
  /** The filter that selected the check, which it must still match (412); null for none. */
  readonly matching?: CheckCriteria | null;
}

export interface CreateOptions {
  /**
   * Whether a new check subscribes to all alert channels (src/service/README.md, "Checks"),
   * not only to those that it names.
   */
  readonly autoAssignAlerts: boolean;
}

export interface PutOptions extends CreateOptions, ChangeOptions {}

export function createChecks(parts: ChecksParts): Checks {
  const { store, clock, ids, checkVariables, outdatedStates, allowance = unlimited } = parts;
  const changed = createCheckChanges({ checkVariables });

  async function insert(
    tx: Sql,
    accountId: string,
    check: Check,
    { autoAssignAlerts }: CreateOptions,
  ): Promise<CheckWithChannels | null> {
    refuseMasks(check);
    allowance.admitCheck(accountId, check, null);
    // This lock is taken first in every feature.
    await allowance.grow(tx, accountId, 'checks');
    await lockReferences(tx, { accountId, before: null, after: check });
    const sealed = checkVariables.seal(accountId, check);
    const created = await insertCheck(tx, {
      ...sealed,
      accountId,
      check: withoutSubscriptions(sealed.check),
      createdAtMs: clock.wallMs(),
    });
    if (created === null) return null;
    const given = check.alertChannelSubscriptions;
    await firstSubscriptions(tx, { accountId, checkId: check.id, given, autoAssignAlerts });
    return withWarnings(tx, accountId, await checkWithChannels(tx, accountId, created));
  }

  async function change(
    tx: Sql,
    accountId: string,
    stored: StoredCheck,
    input: CheckInput,
  ): Promise<CheckWithChannels> {
    const { key, before, after, retained } = await changed(tx, accountId, stored, input);
    const { id } = key;
    allowance.admitCheck(accountId, after, before);
    await lockReferences(tx, { accountId, before, after });
    if (input.alertChannelSubscriptions !== undefined) {
      const given = after.alertChannelSubscriptions;
      await replaceSubscriptions(tx, { accountId, checkId: id, given });
    }
    const sealed = await checkVariables.sealChanged(key, { before, after, retained }, () =>
      sealedVariablesOf(tx, key),
    );
    const updated = await updateCheck(tx, {
      ...sealed,
      accountId,
      check: withoutSubscriptions(sealed.check),
      updatedAtMs: clock.wallMs(),
    });
    if (updated === null) throw notFound('check');
    return withWarnings(tx, accountId, await checkWithChannels(tx, accountId, updated));
  }

  return {
    async create(accountId, input, options) {
      const { warnings: _, ...fields } = input;
      const check = wholeCheck(fields, ids(), null);
      return store.transaction(async (tx) => {
        const created = await insert(tx, accountId, check, options);
        if (created === null) throw conflict('A check has that id already', { id: check.id });
        return created;
      });
    },

    async read({ accountId, id }, type) {
      const found = await findCheck(store, { accountId, id });
      if (!isOfType(found, type)) throw notFound('check');
      return withWarnings(store, accountId, await checkWithChannels(store, accountId, found));
    },

    async *list(accountId, { limit, page, walk, ...filters }) {
      if (!canMatch(filters)) return;
      if (filters.states.length > 0) await outdatedStates.refresh({ accountId, checkId: null });
      const range = rangeOf({ limit, page, ...(walk === undefined ? {} : { walk }) });
      const filter = { accountId, ...filters, range };
      const entries = await listCheckEntries(store, filter);
      yield* inSlices(entries, async (ids) =>
        checksWithChannels(store, accountId, await findChecks(store, { accountId, ids })),
      );
    },

    update({ accountId, id }, input, { type, precondition, matching = null } = {}) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        await requireMatching(tx, { accountId, id }, matching);
        precondition?.(await checkWithChannels(tx, accountId, stored));
        return change(tx, accountId, stored, input);
      });
    },

    put({ accountId, id }, input, { type, precondition, ...options }) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (stored === null) {
          precondition?.();
          refuseReservedId(id);
          if (type === undefined) refuseType(input);
          refuseIncomplete(input, [
            'request',
            ...(type === undefined ? (['checkType'] as const) : []),
          ]);
          const checkType = type ?? input.checkType;
          const given = changesIn(input, { id, checkType: type });
          const check = wholeCheck({ name: id, ...given, checkType }, id, null);
          const created = await insert(tx, accountId, check, options);
          if (created !== null) return created;
        }
        // A concurrent call may have created it: then this is an update.
        const present = stored ?? (await lockCheck(tx, { accountId, id }));
        if (present === null) throw notFound('check');
        const { checkType } = present.check;
        if (type !== undefined && checkType !== type) {
          throw conflict(`There is a check with this id, of the type ${checkType}`, { checkType });
        }
        precondition?.(await checkWithChannels(tx, accountId, present));
        return change(tx, accountId, present, input);
      });
    },

    async remove({ accountId, id }, { type, precondition, matching = null } = {}) {
      await store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        await requireMatching(tx, { accountId, id }, matching);
        precondition?.(await checkWithChannels(tx, accountId, stored));
        await lockReferences(tx, { accountId, before: stored.check, after: null });
        await deleteCheck(tx, { accountId, id });
      });
    },

    selectIds: (accountId, ids) => selectByIds(store, { accountId, ids }),

    async selectMatching(accountId, criteria, limit) {
      if (!canMatch(criteria)) return { total: 0, found: [] };
      if (criteria.states.length > 0) await outdatedStates.refresh({ accountId, checkId: null });
      return selectByFilter(store, { accountId, ...criteria }, limit);
    },
  };
}

function isOfType(
  stored: StoredCheck | null,
  type: StoredCheckType | undefined,
): stored is StoredCheck {
  return stored !== null && (type === undefined || stored.check.checkType === type);
}
