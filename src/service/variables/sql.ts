import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';

export type StoredVariable = {
  readonly key: string;
  /** null if it is secret. */
  readonly value: string | null;
  /** Encrypted; null if it is not secret. */
  readonly sealedValue: Buffer | null;
  readonly locked: boolean;
  readonly secret: boolean;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
};

export interface VariableKey {
  readonly accountId: string;
  readonly key: string;
}

const COLUMNS = 'key, value, sealed_value, locked, secret, created_at, updated_at';

type VariableFields = VariableKey &
  Pick<StoredVariable, 'value' | 'sealedValue' | 'locked' | 'secret'> & {
    /** The size of the value as JSON in UTF-8. */
    readonly bytes: number;
    readonly atMs: number;
  };

const valuesOf = (fields: VariableFields): readonly unknown[] => [
  fields.accountId,
  fields.key,
  fields.value,
  fields.sealedValue,
  fields.locked,
  fields.secret,
  fields.bytes,
  new Date(fields.atMs),
];

/** @returns null if the account has a variable with that key */
export async function insertVariable(
  sql: Sql,
  fields: VariableFields,
): Promise<StoredVariable | null> {
  const [variable] = await sql.query<StoredVariable>(
    `insert into variables (account_id, key, value, sealed_value, locked, secret, bytes,
       created_at)
     values ($1, $2, $3, $4::bytea, $5::boolean, $6::boolean, $7::int, $8::timestamptz)
     on conflict (account_id, key) do nothing returning ${COLUMNS}`,
    valuesOf(fields),
  );
  return variable ?? null;
}

/** Updates a variable that `lockVariable` has locked. */
export async function updateVariable(sql: Sql, fields: VariableFields): Promise<StoredVariable> {
  const [variable] = await sql.query<StoredVariable>(
    `update variables set value = $3, sealed_value = $4::bytea, locked = $5::boolean,
       secret = $6::boolean, bytes = $7::int, updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
     where account_id = $1 and key = $2 returning ${COLUMNS}`,
    valuesOf(fields),
  );
  if (variable !== undefined) return variable;
  throw new StoreError('internal', 'STORE_STATEMENT', 'an update of variables returned no row');
}

export async function findVariable(sql: Sql, name: VariableKey): Promise<StoredVariable | null> {
  return readVariable(sql, name, '');
}

/** Locks the variable until the transaction ends. */
export async function lockVariable(sql: Sql, name: VariableKey): Promise<StoredVariable | null> {
  return readVariable(sql, name, 'for update');
}

async function readVariable(
  sql: Sql,
  { accountId, key }: VariableKey,
  lock: '' | 'for update',
): Promise<StoredVariable | null> {
  const [variable] = await sql.query<StoredVariable>(
    `select ${COLUMNS} from variables where account_id = $1 and key = $2 ${lock}`,
    [accountId, key],
  );
  return variable ?? null;
}

/** In the byte order of their keys. */
export function listVariables(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredVariable[]> {
  const list = {
    columns: COLUMNS,
    from: 'variables',
    where: 'account_id = $1',
    params: [accountId],
    order: 'key collate "C"',
    id: { sql: 'key', type: 'text' } as const,
  };
  return readList<StoredVariable>(sql, list, range);
}

/** @returns whether there was one */
export async function deleteVariable(sql: Sql, { accountId, key }: VariableKey): Promise<void> {
  await sql.query('delete from variables where account_id = $1 and key = $2', [accountId, key]);
}

/** The size of all values of an account as JSON in UTF-8. */
export async function variableBytes(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ bytes: number }>(
    'select coalesce(sum(bytes), 0)::bigint as bytes from variables where account_id = $1',
    [accountId],
  );
  return row?.bytes ?? 0;
}

/** Increases with each change of the account's secret variables. */
export async function secretsRevisionOf(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ revision: number }>(
    'select secrets_revision as revision from accounts where id = $1',
    [accountId],
  );
  return row?.revision ?? 0;
}
