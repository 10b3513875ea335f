import {
  type AccountVariable,
  accountVariableSchema,
  type OwnVariable,
} from '../../model/check/variable.ts';
import { holdsMask } from '../../model/credentials/mask.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { MAX_VARIABLES } from '../../wire/v1/limits.ts';
import { type Allowance, requireCapacity } from '../accounts/allowance.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound, ServiceError } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { bodyProblem, MASK_NOT_ALLOWED, validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  decryptSecret,
  readRetained,
  reencryptSecret,
  unreadableSecrets,
} from '../secrets/secret-store.ts';
import {
  deleteVariable,
  findVariable,
  insertVariable,
  listVariables,
  lockVariable,
  type StoredVariable,
  updateVariable,
  type VariableKey,
  variableBytes,
} from './sql.ts';

export type { StoredVariable } from './sql.ts';

export interface VariablesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly allowance: Allowance;
  /** null: no secret value can be stored. */
  readonly secrets: SecretBox | null;
}

/** An account's values for templates in checks (src/model/README.md, "Variables and secrets"). */
export interface Variables {
  create(accountId: string, input: RawBody): Promise<StoredVariable>;
  read(key: AccountKey): Promise<StoredVariable>;
  /** By their keys. */
  list(accountId: string, page: Page): Promise<readonly StoredVariable[]>;
  /** Replaces the given fields. The key does not change. */
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<StoredVariable>,
  ): Promise<StoredVariable>;
  remove(key: AccountKey, precondition?: Precondition<StoredVariable>): Promise<void>;
  /**
   * The values to mask.
   *
   * @throws ServiceError 409 where one of them cannot be decrypted
   */
  secretValues(sql: Sql, accountId: string): Promise<readonly string[]>;
  /** The account's variables with their values, except those that cannot be decrypted. */
  forAgents(sql: Sql, accountId: string): Promise<OwnVariable[]>;
  /** The same with the names of those that cannot be decrypted. */
  sentToAgents(sql: Sql, accountId: string): Promise<SentVariables>;
}

export interface SentVariables {
  readonly variables: OwnVariable[];
  readonly unreadableVariables: string[];
}

/** Every agent of the account gets all variables. */
const CAPACITY = { resource: 'variables', limit: MAX_VARIABLES, name: 'variables' } as const;
/** … in one answer, which also contains checks, runs and pauses: see MAX_POLL_ANSWER_BYTES. */
const MAX_BYTES = 1024 * 1024;
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createVariables(parts: VariablesParts): Variables {
  const { store, clock, log, allowance, secrets } = parts;
  const unreadable = unreadableSecrets(log);

  const columnsOf = (
    accountId: string,
    { key, value, locked, secret }: AccountVariable,
    before: Buffer | null = null,
  ) => {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const common = { accountId, key, locked, secret, bytes, atMs: clock.wallMs() };
    if (!secret) return { ...common, value, sealedValue: null };
    const context = sealingContextOf(accountId, key);
    const sealedValue = reencryptSecret(secrets, value, { context, before });
    return { ...common, value: null, sealedValue };
  };
  const openedValue = (accountId: string, { key, value, sealedValue }: StoredVariable): string =>
    sealedValue === null
      ? (value ?? '')
      : decryptSecret(secrets, sealedValue, sealingContextOf(accountId, key));
  const sentToAgents = async (sql: Sql, accountId: string): Promise<SentVariables> => {
    const all = await listVariables(sql, { accountId, limit: MAX_VARIABLES, offset: 0 });
    const variables: OwnVariable[] = [];
    const unreadableVariables: string[] = [];
    for (const variable of all) {
      const { key, secret } = variable;
      try {
        variables.push({ key, value: openedValue(accountId, variable), secret });
      } catch (error) {
        // Checks that use the variable fail; others are not affected.
        const text = 'a variable is not sent to agents';
        unreadable.report([accountId, key], { variable: key }, text, error);
        unreadableVariables.push(key);
      }
    }
    return { variables, unreadableVariables };
  };

  return {
    async create(accountId, input) {
      const variable = wholeVariable(input, input.value);
      const columns = columnsOf(accountId, variable);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'variables');
        await requireCapacity(tx, accountId, CAPACITY);
        const created = await insertVariable(tx, columns);
        await requireBytes(tx, accountId);
        if (created !== null) return created;
        throw conflict(`There is a variable ${variable.key} already`, { key: variable.key });
      });
    },

    async read({ accountId, id: key }) {
      const found = await findVariable(store, { accountId, key });
      if (found === null) throw notFound('variable');
      return found;
    },

    list(accountId, page) {
      return listVariables(store, { accountId, ...rangeOf(page) });
    },

    update({ accountId, id: key }, input, precondition) {
      return store.transaction(async (tx) => {
        // Before the variable, in the same order as `create`.
        await lockAccount(tx, accountId);
        const stored = await lockVariable(tx, { accountId, key });
        if (stored === null) throw notFound('variable');
        precondition?.(stored);
        const { value, ...given } = givenFields(input, {
          fixed: { key },
          responseOnly: RESPONSE_ONLY,
        });
        const stopsBeingSecret = stored.secret && given.secret === false;
        // Otherwise a caller with write access could read the secret value.
        if (stopsBeingSecret && typeof value !== 'string') {
          const message = 'is required when a variable stops being secret';
          throw invalid([bodyProblem(['value'], message)]);
        }
        const { locked, secret } = stored;
        // A secret value is null in responses, so null keeps the stored one.
        const kept = value ?? readRetained(['body.value'], () => openedValue(accountId, stored));
        const variable = wholeVariable({ key, locked, secret, ...given, value: kept }, value);
        const updated = await updateVariable(
          tx,
          columnsOf(accountId, variable, stored.sealedValue),
        );
        await requireBytes(tx, accountId);
        return updated;
      });
    },

    remove({ accountId, id: key }, precondition) {
      return store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const stored = await lockVariable(tx, { accountId, key });
        if (stored === null) throw notFound('variable');
        precondition?.(stored);
        await deleteVariable(tx, { accountId, key });
      });
    },

    async secretValues(sql, accountId) {
      const all = await listVariables(sql, { accountId, limit: MAX_VARIABLES, offset: 0 });
      return all.filter(({ secret }) => secret).map((each) => openedValue(accountId, each));
    },

    forAgents: async (sql, accountId) => (await sentToAgents(sql, accountId)).variables,

    sentToAgents,
  };
}

/** Call it after the change, in its transaction. */
async function requireBytes(tx: Sql, accountId: string): Promise<void> {
  if ((await variableBytes(tx, accountId)) <= MAX_BYTES) return;
  const message = `The values of all variables of an account have at most ${MAX_BYTES} bytes in total, as JSON; shorten or delete some`;
  throw new ServiceError(413, message, { attributes: { limitBytes: MAX_BYTES } });
}

function sealingContextOf(accountId: string, key: VariableKey['key']): readonly string[] {
  return ['variables', accountId, key];
}

/** @param given the value in the request; undefined keeps the stored one */
function wholeVariable(input: RawBody, given: unknown): AccountVariable {
  const valid = validBody(accountVariableSchema, input);
  if (valid.secret && typeof given === 'string' && holdsMask(given)) {
    throw invalid([bodyProblem(['value'], MASK_NOT_ALLOWED)]);
  }
  return valid;
}
