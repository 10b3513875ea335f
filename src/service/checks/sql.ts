import { checkBodySchema } from '../../model/check/check.ts';
import { type AnyCheck, heartbeatCheckSchema } from '../../model/check/heartbeat.ts';
import type { StoredCheckType } from '../../model/enums.ts';
import { parseTolerantly } from '../../wire/v1/tolerant-parse.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { ListRange } from '../database/lists/list-walk.ts';
import { readList } from '../database/lists/lists.ts';
import { bytesOf, type PageEntry } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

import { HEARTBEAT_OF_CHECK, type HeartbeatOfCheck } from '../heartbeats/shared.sql.ts';
import { CHECKS_WITH_STATUS, type CheckFilter, checksMatching } from './check-filter.sql.ts';

export interface StoredCheck {
  readonly check: AnyCheck;
  /** null for all checks that are no heartbeats. */
  readonly heartbeat: HeartbeatOfCheck | null;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
}

type CheckRow = Omit<StoredCheck, 'check'> & {
  readonly id: string;
  readonly body: unknown;
  readonly groupId: number | null;
  readonly checkType: StoredCheckType;
};

const COLUMNS = `id, body, group_id, created_at, updated_at, check_type,
  ${HEARTBEAT_OF_CHECK}`;

function storedCheckOf({ id, body: stored, groupId, checkType, ...row }: CheckRow): StoredCheck {
  // A body of an older release may lack fields, which get their defaults. A body of a newer release may have
  // further fields, which are dropped.
  const parsed =
    checkType === 'HEARTBEAT'
      ? parseTolerantly(heartbeatCheckSchema, stored)
      : parseTolerantly(checkBodySchema, stored);
  const body = parsed.ok ? parsed.value : (stored as AnyCheck);
  // The column has the group: deleting a group clears it there, but not in the body.
  return { ...row, check: { ...body, id, groupId } };
}

/** The parameters for the body and for the columns that repeat parts of it for queries. */
function valuesOf(accountId: string, { id, ...body }: AnyCheck): readonly unknown[] {
  return [
    accountId,
    id,
    body.checkType,
    body.name,
    body.activated,
    body.muted,
    jsonText(body.tags),
    body.groupId,
    // A heartbeat does not run.
    body.checkType === 'HEARTBEAT' ? 0 : body.frequency,
    jsonText(body),
  ];
}

/**
 * @param given `sealedVariables` are the encrypted values of the secret variables, which `check` lacks
 * @returns null if the account has a check with that id already
 */
export async function insertCheck(
  sql: Sql,
  {
    accountId,
    check,
    sealedVariables = null,
    createdAtMs,
  }: {
    readonly accountId: string;
    readonly check: AnyCheck;
    readonly sealedVariables?: Buffer | null;
    readonly createdAtMs: number;
  },
): Promise<StoredCheck | null> {
  const rows = await sql.query<CheckRow>(
    `insert into checks (account_id, id, check_type, name, activated, muted, tags, group_id,
       frequency, body, created_at, updated_at, revision, sealed_variables)
     values ($1, $2, $3, $4, $5::boolean, $6::boolean, $7::jsonb, $8::bigint, $9::int, $10::jsonb,
       $11::timestamptz, null, 1, $12::bytea)
     on conflict (account_id, id) do nothing
     returning ${COLUMNS}`,
    [...valuesOf(accountId, check), new Date(createdAtMs), sealedVariables],
  );
  return rows[0] === undefined ? null : storedCheckOf(rows[0]);
}

/**
 * Updates a check that `lockCheck` has locked. The type never changes.
 *
 * @param given `sealedVariables` as for `insertCheck`; undefined: no change
 */
export async function updateCheck(
  sql: Sql,
  {
    accountId,
    check,
    sealedVariables,
    updatedAtMs,
  }: {
    readonly accountId: string;
    readonly check: AnyCheck;
    readonly sealedVariables?: Buffer | null | undefined;
    readonly updatedAtMs: number;
  },
): Promise<StoredCheck | null> {
  const rows = await sql.query<CheckRow>(
    `update checks set name = $4, activated = $5::boolean, muted = $6::boolean, tags = $7::jsonb,
       group_id = $8::bigint, frequency = $9::int, body = $10::jsonb,
       -- Two writes never leave the same time: ETags are made of what is shown.
       updated_at = greatest($11::timestamptz, updated_at + interval '1 millisecond'), revision = revision + 1,
       sealed_variables = case when $12::boolean then $13::bytea else sealed_variables end
     where account_id = $1 and id = $2 and check_type = $3
     returning ${COLUMNS}`,
    [
      ...valuesOf(accountId, check),
      new Date(updatedAtMs),
      sealedVariables !== undefined,
      sealedVariables ?? null,
    ],
  );
  return rows[0] === undefined ? null : storedCheckOf(rows[0]);
}

export async function findCheck(sql: Sql, key: AccountKey): Promise<StoredCheck | null> {
  return readCheck(sql, key, '');
}

/** The encrypted values of the check's secret variables; null if there are none, or no such check. */
export async function sealedVariablesOf(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<Buffer | null> {
  const [row] = await sql.query<{ sealedVariables: Buffer | null }>(
    'select sealed_variables from checks where account_id = $1 and id = $2',
    [accountId, id],
  );
  return row?.sealedVariables ?? null;
}

/** Locks the check until the transaction ends. */
export async function lockCheck(sql: Sql, key: AccountKey): Promise<StoredCheck | null> {
  return readCheck(sql, key, 'for update');
}

/**
 * Locks these checks in share mode until the transaction ends, so that none is deleted. Call it before locking
 * resources that name them: changes of checks lock in this order, too.
 *
 * @returns the types of the existing checks, by id
 */
export async function lockChecksShared(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, StoredCheckType>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: string; checkType: StoredCheckType }>(
    `select id, check_type from checks where account_id = $1 and id = any($2::text[])
     order by id for key share`,
    [accountId, ids],
  );
  return new Map(rows.map(({ id, checkType }) => [id, checkType]));
}

async function readCheck(
  sql: Sql,
  { accountId, id }: AccountKey,
  lock: '' | 'for update',
): Promise<StoredCheck | null> {
  const rows = await sql.query<CheckRow>(
    `select ${COLUMNS} from checks where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : storedCheckOf(rows[0]);
}

/** About the size of a subscription in a list of checks. */
const SUBSCRIPTION_BYTES = 200;

/** The ids of a page of checks. Oldest first: a new check does not move the pages. */
export async function listCheckEntries(
  sql: Sql,
  { range, ...filter }: CheckFilter & { readonly range: ListRange },
): Promise<readonly PageEntry<string>[]> {
  const { condition, params } = checksMatching(filter);
  const list = {
    columns: `c.id, ${bytesOf('c.body')} + ${SUBSCRIPTION_BYTES} * (
       select count(*) from alert_subscriptions s
       where s.account_id = c.account_id and s.check_id = c.id) as bytes`,
    from: CHECKS_WITH_STATUS,
    where: condition,
    params,
    order: 'c.created_at, c.id',
    id: { sql: 'c.id', type: 'text' } as const,
    position: 'c.list_position',
  };
  return readList<PageEntry<string>>(sql, list, range);
}

/** The checks among these that still exist, in the order of the ids. */
export async function findChecks(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly StoredCheck[]> {
  const rows = await sql.query<CheckRow>(
    `select ${COLUMNS} from checks where account_id = $1 and id = any($2::text[])
     order by array_position($2::text[], id)`,
    [accountId, ids],
  );
  return rows.map(storedCheckOf);
}

/** Deletes the check and its status. Its results stay until their retention ends. */
export async function deleteCheck(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query('delete from check_statuses where account_id = $1 and check_id = $2', [
    accountId,
    id,
  ]);
  await sql.query('delete from checks where account_id = $1 and id = $2', [accountId, id]);
}

/** The ids of the first checks that name a private location. */
export async function checksNamingLocation(
  sql: Sql,
  {
    accountId,
    slug,
    limit,
  }: { readonly accountId: string; readonly slug: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from checks where account_id = $1 and body -> 'privateLocations' ? $2
     order by id limit $3::bigint`,
    [accountId, slug, limit],
  );
  return rows.map(({ id }) => id);
}
