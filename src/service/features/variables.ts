import { type AccountVariable, accountVariableSchema } from '../../model/variable.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MAX_VARIABLES } from '../../wire/v1/limits.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { Sql, Store } from '../store/port.ts';
import {
  deleteVariable,
  findVariable,
  insertVariable,
  listVariables,
  lockVariable,
  type StoredVariable,
  updateVariable,
  type VariableKey,
} from '../store/variables.ts';
import type { Allowance } from './entitlements/allowance.ts';
import { givenFields } from './given-fields.ts';
import { bodyProblem, parseBody } from './input-problems.ts';
import { type Page, rangeOf } from './paging.ts';
import { requireRoom } from './room.ts';
import { boxOf, opened } from './secret-store.ts';

export type { StoredVariable } from '../store/variables.ts';

export interface VariablesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly allowance: Allowance;
  /** null: no secret value can be stored. */
  readonly secrets: SecretBox | null;
}

export type VariableInput = Readonly<Record<string, unknown>>;

/** What stands in the place of templates in checks, for a whole account (SEMANTICS 2). */
export interface Variables {
  create(accountId: string, input: VariableInput): Promise<StoredVariable>;
  read(accountId: string, key: string): Promise<StoredVariable>;
  /** By their keys. */
  list(accountId: string, page: Page): Promise<readonly StoredVariable[]>;
  /** The given fields over the stored ones. The key stays. */
  update(accountId: string, key: string, input: VariableInput): Promise<StoredVariable>;
  remove(accountId: string, key: string): Promise<void>;
  /** The values that must be shown to nobody. */
  secretValues(sql: Sql, accountId: string): Promise<readonly string[]>;
}

/** Every agent of the account is told all of them. */
const ROOM = { resource: 'variables', limit: MAX_VARIABLES, name: 'variables' } as const;
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createVariables(parts: VariablesParts): Variables {
  const { store, clock, allowance, secrets } = parts;

  const columnsOf = (accountId: string, { key, value, locked, secret }: AccountVariable) => {
    const atMs = clock.wallMs();
    if (!secret) return { accountId, key, value, sealedValue: null, locked, secret, atMs };
    const sealedValue = boxOf(secrets).seal(value, placeOf(accountId, key));
    return { accountId, key, value: null, sealedValue, locked, secret, atMs };
  };
  const openedValue = (accountId: string, { key, value, sealedValue }: StoredVariable): string =>
    sealedValue === null ? (value ?? '') : opened(secrets, sealedValue, placeOf(accountId, key));

  return {
    async create(accountId, input) {
      const variable = wholeVariable(input);
      const columns = columnsOf(accountId, variable);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'variables');
        await requireRoom(tx, accountId, ROOM);
        const created = await insertVariable(tx, columns);
        if (created !== null) return created;
        throw conflict(`There is a variable ${variable.key} already`, { key: variable.key });
      });
    },

    async read(accountId, key) {
      const found = await findVariable(store, { accountId, key });
      if (found === null) throw notFound('variable');
      return found;
    },

    list(accountId, page) {
      return listVariables(store, { accountId, ...rangeOf(page) });
    },

    update(accountId, key, input) {
      return store.transaction(async (tx) => {
        const stored = await lockVariable(tx, { accountId, key });
        if (stored === null) throw notFound('variable');
        const { value, ...given } = givenFields(input, {
          fixed: { key },
          responseOnly: RESPONSE_ONLY,
        });
        const becomesOpen = stored.secret && given.secret === false;
        // Or whoever may write could read what nobody is to read.
        if (becomesOpen && typeof value !== 'string') {
          throw invalid([
            bodyProblem(['value'], 'is needed anew when a variable is secret no more'),
          ]);
        }
        const { locked, secret } = stored;
        // null is how a secret value comes back in an answer: it stays as it is.
        const kept = value ?? openedValue(accountId, stored);
        const variable = wholeVariable({ key, locked, secret, ...given, value: kept });
        return updateVariable(tx, columnsOf(accountId, variable));
      });
    },

    async remove(accountId, key) {
      if (!(await deleteVariable(store, { accountId, key }))) throw notFound('variable');
    },

    async secretValues(sql, accountId) {
      const all = await listVariables(sql, { accountId, limit: MAX_VARIABLES, offset: 0 });
      return all.filter(({ secret }) => secret).map((each) => openedValue(accountId, each));
    },
  };
}

function placeOf(accountId: string, key: VariableKey['key']): readonly string[] {
  return ['variables', accountId, key];
}

function wholeVariable(input: VariableInput): AccountVariable {
  const parsed = parseBody(accountVariableSchema, input);
  if (!parsed.ok) throw invalid(parsed.problems);
  return parsed.value;
}
