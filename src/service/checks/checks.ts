import { isDeepStrictEqual } from 'node:util';
import { assertionProblems } from '../../model/check/assertion-problems.ts';
import { type Check, checkBodySchema } from '../../model/check/check.ts';
import { credentialTexts, URL_FIELDS } from '../../model/credentials/credential-fields.ts';
import {
  type CredentialProblem,
  maskProblems,
  withRetainedCredentials,
} from '../../model/credentials/retained-credentials.ts';
import { MASK } from '../../model/credentials/sensitive-headers.ts';
import { targetChange, targetOf } from '../../model/credentials/target.ts';
import { urlSecretOf } from '../../model/credentials/url-secret.ts';
import type { RunnableCheckType, StoredCheckType } from '../../model/enums.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Allowance, unlimited } from '../accounts/allowance.ts';
import {
  firstSubscriptions,
  replaceSubscriptions,
} from '../alerts/channels/check-subscriptions.ts';
import {
  type CheckView,
  viewOf,
  viewsOf,
  withoutSubscriptions,
} from '../alerts/channels/check-views.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound, type RequestProblem } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { inSlices, type Page, rangeOf } from '../http/resources/paging.ts';
import type { OutdatedStates } from '../results/statuses/outdated-states.ts';
import { lockReferences } from './check-references.ts';
import {
  type CheckCriteria,
  canMatch,
  requireMatching,
  type SelectedCheck,
} from './check-selection.ts';
import type { CheckVariables } from './check-variables.ts';
import { withWarnings } from './check-warnings.ts';
import { refuseMaskedVariables, withRetainedVariables } from './retained-variables.ts';
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

export type { CheckView } from '../alerts/channels/check-views.ts';

export interface ChecksParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly checkVariables: CheckVariables;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
  /** Left out, nothing is limited. */
  readonly allowance?: Allowance;
}

/** Fields of a check as a caller sent them, not validated yet. */
export type CheckInput = Readonly<Record<string, unknown>>;

export type CheckQuery = Page & CheckCriteria;

/**
 * The checks of an account. With `type`, only checks of that type are found. Heartbeats are listed, read
 * and removed here, too; heartbeats/heartbeats.ts creates and changes them, and a change here is refused
 * with 409.
 */
export interface Checks {
  /** Creates a check with a new UUID. `input` contains the checkType. */
  create(accountId: string, input: CheckInput, options: CreateOptions): Promise<CheckView>;
  read(key: AccountKey, type?: StoredCheckType): Promise<CheckView>;
  /** Oldest first, a few at a time: a page of the largest checks has hundreds of megabytes. */
  list(accountId: string, query: CheckQuery): AsyncIterable<readonly CheckView[]>;
  /** Replaces the given fields, each as a whole, and validates the result. */
  update(key: AccountKey, input: CheckInput, options?: ChangeOptions): Promise<CheckView>;
  /** Like `update`, but creates a check that does not exist under the given id. */
  put(key: AccountKey, input: CheckInput, options: PutOptions): Promise<CheckView>;
  remove(
    key: AccountKey,
    options?: Omit<ChangeOptions, 'type'> & { readonly type?: StoredCheckType },
  ): Promise<void>;
  /** In the order of the ids, including those that no check has. */
  selectIds(accountId: string, ids: readonly string[]): Promise<readonly SelectedCheck[]>;
  /** The oldest that match, and how many match. */
  selectMatching(
    accountId: string,
    criteria: CheckCriteria,
    limit: number,
  ): Promise<{ readonly total: number; readonly found: readonly SelectedCheck[] }>;
}

/** On what GET shows of the check; without views where there is none. */
export type CheckPrecondition = Precondition<CheckView> | undefined;

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

/** Ignored in an update. */
const RESPONSE_ONLY = ['created_at', 'updated_at', 'alertChannels', 'warnings'];

export function createChecks(parts: ChecksParts): Checks {
  const { store, clock, ids, checkVariables, outdatedStates, allowance = unlimited } = parts;

  async function insert(
    tx: Sql,
    accountId: string,
    check: Check,
    { autoAssignAlerts }: CreateOptions,
  ): Promise<CheckView | null> {
    refuse(maskProblems(check.request));
    refuseMaskedVariables(check.variables);
    allowance.admitCheck(accountId, check, null);
    // The first of all locks, as everywhere.
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
    return withWarnings(tx, accountId, await viewOf(tx, accountId, created));
  }

  /** null if the URL has none. A template in the secret may change the host. */
  async function urlSecret(tx: Sql, key: AccountKey, { request }: Check): Promise<string | null> {
    if (!('url' in request)) return null;
    const secret = urlSecretOf(request.url);
    if (secret === null || secret.text !== MASK) return secret?.text ?? null;
    const opened = checkVariables.open(key, { request }, await sealedVariablesOf(tx, key));
    return credentialTexts(opened.request).get(URL_FIELDS[secret.part].id) ?? null;
  }

  async function change(
    tx: Sql,
    accountId: string,
    stored: StoredCheck,
    input: CheckInput,
  ): Promise<CheckView> {
    const before = runnable(stored);
    const { id, ...fields } = before;
    const given = changesIn(input, { id, checkType: before.checkType });
    const { variables, retained } = withRetainedVariables(given.variables, before.variables);
    const key = { accountId, id };
    const secret = await urlSecret(tx, key, before);
    const target = targetOf(before.request, secret);
    const { request, problems } = withRetainedCredentials(given.request, {
      before: before.request,
      changeOf: (other) =>
        targetChange(
          { target, variables: before.variables },
          { target: targetOf(other, secret), variables },
          retained,
        ),
    });
    refuse(problems);
    const after = wholeCheck({ ...fields, ...given, variables, request }, id, before);
    refuseMaskedVariables(after.variables);
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
    return withWarnings(tx, accountId, await viewOf(tx, accountId, updated));
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
      return withWarnings(store, accountId, await viewOf(store, accountId, found));
    },

    async *list(accountId, { limit, page, walk, ...filters }) {
      if (!canMatch(filters)) return;
      if (filters.states.length > 0) await outdatedStates.refresh({ accountId, checkId: null });
      const range = rangeOf({ limit, page, ...(walk === undefined ? {} : { walk }) });
      const filter = { accountId, ...filters, range };
      const entries = await listCheckEntries(store, filter);
      yield* inSlices(entries, async (ids) =>
        viewsOf(store, accountId, await findChecks(store, { accountId, ids })),
      );
    },

    update({ accountId, id }, input, { type, precondition, matching = null } = {}) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        await requireMatching(tx, { accountId, id }, matching);
        precondition?.(await viewOf(tx, accountId, stored));
        return change(tx, accountId, stored, input);
      });
    },

    put({ accountId, id }, input, { type, precondition, ...options }) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (stored === null) {
          precondition?.();
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
        precondition?.(await viewOf(tx, accountId, present));
        return change(tx, accountId, present, input);
      });
    },

    async remove({ accountId, id }, { type, precondition, matching = null } = {}) {
      await store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        await requireMatching(tx, { accountId, id }, matching);
        precondition?.(await viewOf(tx, accountId, stored));
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

/** @throws ServiceError 400 if there are any */
function refuse(problems: readonly CredentialProblem[]): void {
  if (problems.length === 0) return;
  throw invalid(problems.map(({ path, message }) => bodyProblem(['request', ...path], message)));
}

function runnable({ check }: StoredCheck): Check {
  if (check.checkType !== 'HEARTBEAT') return check;
  throw conflict(
    `${check.id} is a heartbeat check: change it at /v1/checks/heartbeats/${check.id}`,
    { checkType: check.checkType },
  );
}

/**
 * A PUT without these fields was meant for an existing check.
 *
 * @throws ServiceError 400 with those that are missing
 */
export function refuseIncomplete(input: CheckInput, needed: readonly string[]): void {
  const missing = needed.filter((field) => input[field] === undefined);
  if (missing.length === 0) return;
  const message = 'is missing: no check has the id in the path, and a new one needs this field';
  throw invalid(missing.map((field) => bodyProblem([field], message)));
}

/** The check with these fields and all defaults. `fields` has no id. */
function wholeCheck(fields: CheckInput, id: string, before: Check | null): Check {
  const valid = validBody(checkBodySchema, fields);
  const problems = [...newAssertionProblems(valid, before)];
  const { locations, privateLocations } = valid;
  if ((locations?.length ?? 0) + (privateLocations?.length ?? 0) === 0) {
    const message =
      'is empty, and so is privateLocations: one of them must name at least one location';
    problems.push(bodyProblem(['locations'], message));
  }
  if (problems.length > 0) throw invalid(problems);
  return { ...valid, id };
}

/**
 * Judges only assertions that `before` does not have: an earlier release accepted some that no response
 * can meet, and everything else in their checks can be changed.
 */
function newAssertionProblems(
  { request }: Pick<Check, 'request'>,
  before: Check | null,
): readonly RequestProblem[] {
  const stored = before?.request.assertions ?? [];
  const given = request.assertions.map((assertion) =>
    stored.some((other) => isDeepStrictEqual(other, assertion)) ? null : assertion,
  );
  return assertionProblems(given).map(({ path, message }) =>
    bodyProblem(['request', 'assertions', ...path], message),
  );
}

/** @throws ServiceError 400 where the id or the type differs from that of the check */
function changesIn(
  input: CheckInput,
  fixed: { readonly id: string; readonly checkType: RunnableCheckType | undefined },
): CheckInput {
  return givenFields(input, { fixed, responseOnly: RESPONSE_ONLY });
}
