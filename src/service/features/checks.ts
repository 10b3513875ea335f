import { type Check, checkBodySchema } from '../../model/check.ts';
import type { RunnableCheckType } from '../../model/vocabulary.ts';
import type { Clock } from '../../runtime/clock.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import {
  deleteCheck,
  findCheck,
  insertCheck,
  listChecks,
  lockCheck,
  type StoredCheck,
  updateCheck,
} from '../store/checks.ts';
import type { Sql, Store } from '../store/port.ts';
import { referTo } from './check-references.ts';
import { bodyProblem, parseBody, textsNotKept } from './input-problems.ts';
import { type Page, rangeOf } from './paging.ts';

export type { StoredCheck } from '../store/checks.ts';

export interface ChecksParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** Fields of a check as somebody gave them; what is wrong with them is found and said here. */
export type CheckInput = Readonly<Record<string, unknown>>;

export interface CheckQuery extends Page {
  readonly tags: readonly string[];
  readonly types: readonly RunnableCheckType[];
  readonly search: string | null;
}

/**
 * The checks of an account. `type` is given where only checks of that type are meant: one of
 * another type is not found then.
 */
export interface Checks {
  /** A check with a new UUID. `input` has its checkType. */
  create(accountId: string, input: CheckInput): Promise<StoredCheck>;
  read(accountId: string, id: string, type?: RunnableCheckType): Promise<StoredCheck>;
  /** Oldest first. */
  list(accountId: string, query: CheckQuery): Promise<readonly StoredCheck[]>;
  /** The given fields over the stored ones, each whole; then the check must be right as a whole. */
  update(
    accountId: string,
    id: string,
    input: CheckInput,
    type?: RunnableCheckType,
  ): Promise<StoredCheck>;
  /** Like `update`; a check that does not exist is created under the given id. */
  put(accountId: string, id: string, input: CheckInput, options: PutOptions): Promise<StoredCheck>;
  remove(accountId: string, id: string, type?: RunnableCheckType): Promise<void>;
}

export interface PutOptions {
  readonly type?: RunnableCheckType | undefined;
  /** Whether a check that is created here is subscribed to all alert channels (spec 4.1). */
  readonly autoAssignAlerts: boolean;
}

/** What the service adds to a check: sent back with an update, it is no change. */
const RESPONSE_ONLY = ['created_at', 'updated_at', 'alertChannels'];

export function createChecks({ store, clock, ids }: ChecksParts): Checks {
  async function insert(tx: Sql, accountId: string, check: Check): Promise<StoredCheck | null> {
    await referTo(tx, { accountId, before: null, after: check });
    return insertCheck(tx, { accountId, check, createdAtMs: clock.wallMs() });
  }

  async function change(
    tx: Sql,
    accountId: string,
    { check: before }: StoredCheck,
    input: CheckInput,
  ): Promise<StoredCheck> {
    mustNameIt(input, before);
    const { id, ...fields } = before;
    const after = wholeCheck({ ...fields, ...changesIn(input) }, id);
    await referTo(tx, { accountId, before, after });
    const updated = await updateCheck(tx, {
      accountId,
      check: after,
      updatedAtMs: clock.wallMs(),
    });
    if (updated === null) throw notFound('check');
    return updated;
  }

  return {
    async create(accountId, input) {
      const check = wholeCheck(input, ids());
      return store.transaction(async (tx) => {
        const created = await insert(tx, accountId, check);
        if (created === null) throw conflict('A check has that id already', { id: check.id });
        return created;
      });
    },

    async read(accountId, id, type) {
      const found = await findCheck(store, { accountId, id });
      if (!isOfType(found, type)) throw notFound('check');
      return found;
    },

    async list(accountId, { tags, types, search, ...page }) {
      // No name and no tag can hold such a text, and the database could not be asked for it.
      if (textsNotKept([...tags, search]).length > 0) return [];
      return listChecks(store, { accountId, tags, types, search, ...rangeOf(page) });
    },

    update(accountId, id, input, type) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        return change(tx, accountId, stored, input);
      });
    },

    // Nothing comes of autoAssignAlerts: there are no alert channels that it could be about.
    put(accountId, id, input, { type }) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (stored === null) {
          // No check can be without it, so what was meant is a check that exists.
          if (input.request === undefined) throw notFound('check');
          const checkType = type ?? input.checkType;
          mustNameIt(input, { id, checkType: type });
          const check = wholeCheck({ name: id, ...changesIn(input), checkType }, id);
          const created = await insert(tx, accountId, check);
          if (created !== null) return created;
        }
        // Where somebody created it a moment ago, that came first and this is an update.
        const present = stored ?? (await lockCheck(tx, { accountId, id }));
        if (present === null) throw notFound('check');
        const { checkType } = present.check;
        if (type !== undefined && checkType !== type) {
          throw conflict(`There is a check with this id, of the type ${checkType}`, { checkType });
        }
        return change(tx, accountId, present, input);
      });
    },

    async remove(accountId, id, type) {
      await store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (!isOfType(stored, type)) throw notFound('check');
        await referTo(tx, { accountId, before: stored.check, after: null });
        await deleteCheck(tx, { accountId, id });
      });
    },
  };
}

function isOfType(
  stored: StoredCheck | null,
  type: RunnableCheckType | undefined,
): stored is StoredCheck {
  return stored !== null && (type === undefined || stored.check.checkType === type);
}

/** The check with these fields, every default filled in. `fields` has no id. */
function wholeCheck(fields: CheckInput, id: string): Check {
  const parsed = parseBody(checkBodySchema, fields);
  if (!parsed.ok) throw invalid(parsed.problems);
  const { locations, privateLocations } = parsed.value;
  if ((locations?.length ?? 0) + (privateLocations?.length ?? 0) === 0) {
    throw invalid([
      bodyProblem(
        ['locations'],
        'is empty, and privateLocations too: one of them must name at least one location',
      ),
    ]);
  }
  return { ...parsed.value, id };
}

/** What a caller may change, out of what a caller may send with a check that exists. */
function changesIn(input: CheckInput): CheckInput {
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => value !== undefined && field !== 'id' && !RESPONSE_ONLY.includes(field),
    ),
  );
}

/** @throws ServiceError 400 where a field that names the check says another one */
function mustNameIt(
  input: CheckInput,
  named: { readonly id: string; readonly checkType: RunnableCheckType | undefined },
): void {
  const wrong = (['id', 'checkType'] as const).filter(
    (field) =>
      input[field] !== undefined && named[field] !== undefined && input[field] !== named[field],
  );
  if (wrong.length === 0) return;
  throw invalid(wrong.map((field) => bodyProblem([field], `must be ${named[field]} here`)));
}
