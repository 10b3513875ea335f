import type { CheckGroup } from '../../model/check/check-group.ts';
import type { AccountKey } from '../database/account-key.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { jsonText } from '../database/values.ts';

export interface StoredGroup {
  readonly id: number;
  readonly fields: CheckGroup;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
}

type GroupRow = CheckGroup & Omit<StoredGroup, 'fields'>;

const COLUMNS = `id, name, activated, muted, locations, private_locations,
  tags, concurrency, runtime_id, alert_settings, use_global_alert_settings, logical_id,
  setup_script, teardown_script, setup_snippet_id, teardown_snippet_id, created_at, updated_at`;

function groupOf({ id, createdAt, updatedAt, ...fields }: GroupRow): StoredGroup {
  return { id, fields, createdAt, updatedAt };
}

function valuesOf(fields: CheckGroup): readonly unknown[] {
  return [
    fields.name,
    fields.activated,
    fields.muted,
    jsonText(fields.locations),
    jsonText(fields.privateLocations),
    jsonText(fields.tags),
    fields.concurrency,
    fields.runtimeId,
    jsonText(fields.alertSettings),
    fields.useGlobalAlertSettings,
    fields.logicalId,
    fields.setupScript,
    fields.teardownScript,
    fields.setupSnippetId,
    fields.teardownSnippetId,
  ];
}

export async function insertGroup(
  sql: Sql,
  {
    accountId,
    fields,
    createdAtMs,
  }: { readonly accountId: string; readonly fields: CheckGroup; readonly createdAtMs: number },
): Promise<StoredGroup> {
  const rows = await sql.query<GroupRow>(
    `insert into check_groups (name, activated, muted, locations, private_locations, tags,
       concurrency, runtime_id, alert_settings, use_global_alert_settings, logical_id, setup_script,
       teardown_script, setup_snippet_id, teardown_snippet_id, account_id, created_at, updated_at)
     values ($1, $2::boolean, $3::boolean, $4::jsonb, $5::jsonb, $6::jsonb, $7::int, $8, $9::jsonb,
       $10::boolean, $11, $12, $13, $14::bigint, $15::bigint, $16, $17::timestamptz, null)
     returning ${COLUMNS}`,
    [...valuesOf(fields), accountId, new Date(createdAtMs)],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new StoreError('internal', 'STORE_STATEMENT', 'an insert into check_groups gave no row');
  }
  return groupOf(row);
}

/** Updates a group that `lockGroup` has locked. */
export async function updateGroup(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    updatedAtMs,
  }: AccountKey<number> & { readonly fields: CheckGroup; readonly updatedAtMs: number },
): Promise<StoredGroup | null> {
  const rows = await sql.query<GroupRow>(
    `update check_groups set name = $1, activated = $2::boolean, muted = $3::boolean,
       locations = $4::jsonb, private_locations = $5::jsonb, tags = $6::jsonb,
       concurrency = $7::int, runtime_id = $8, alert_settings = $9::jsonb,
       use_global_alert_settings = $10::boolean, logical_id = $11, setup_script = $12,
       teardown_script = $13, setup_snippet_id = $14::bigint, teardown_snippet_id = $15::bigint,
       updated_at = $18::timestamptz
     where account_id = $16 and id = $17::bigint
     returning ${COLUMNS}`,
    [...valuesOf(fields), accountId, id, new Date(updatedAtMs)],
  );
  return rows[0] === undefined ? null : groupOf(rows[0]);
}

export async function findGroup(sql: Sql, key: AccountKey<number>): Promise<StoredGroup | null> {
  return readGroup(sql, key, '');
}

/** Locks the group until the transaction ends. */
export async function lockGroup(sql: Sql, key: AccountKey<number>): Promise<StoredGroup | null> {
  return readGroup(sql, key, 'for update');
}

/** Locks the group shared until the transaction ends: other transactions cannot change it. */
export async function lockGroupShared(
  sql: Sql,
  key: AccountKey<number>,
): Promise<StoredGroup | null> {
  return readGroup(sql, key, 'for share');
}

async function readGroup(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
  lock: '' | 'for update' | 'for share',
): Promise<StoredGroup | null> {
  const rows = await sql.query<GroupRow>(
    `select ${COLUMNS} from check_groups where account_id = $1 and id = $2::bigint ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : groupOf(rows[0]);
}

/** Oldest first. */
export async function listGroups(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredGroup[]> {
  const list = {
    columns: COLUMNS,
    from: 'check_groups',
    where: 'account_id = $1',
    params: [accountId],
    order: 'id',
    id: NUMBER_ID,
  };
  const rows = await readList<GroupRow>(sql, list, range);
  return rows.map(groupOf);
}

/**
 * Deletes the group; its checks stay, without a group. Counts as a change of the checks, too: they may
 * have run only because of the group's settings, and nothing else would record that change.
 */
export async function deleteGroup(
  sql: Sql,
  { accountId, id, deletedAtMs }: AccountKey<number> & { readonly deletedAtMs: number },
): Promise<void> {
  await sql.query(
    `update checks
     set group_id = null, updated_at = $3::timestamptz, revision = revision + 1
     where account_id = $1 and group_id = $2::bigint`,
    [accountId, id, new Date(deletedAtMs)],
  );
  await sql.query('delete from check_groups where account_id = $1 and id = $2::bigint', [
    accountId,
    id,
  ]);
}

/**
 * Locks the checks of the group until the transaction ends. Call it before the group is locked, as a
 * change of a check locks them in that order.
 */
export async function lockChecksOfGroup(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<void> {
  await sql.query(
    `select id from checks where account_id = $1 and group_id = $2::bigint order by id for update`,
    [accountId, id],
  );
}

/** The slugs of the private locations that the checks of a group name themselves. */
export async function locationsOfGroupChecks(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<readonly string[]> {
  const rows = await sql.query<{ slug: string }>(
    `select distinct slug
     from checks, jsonb_array_elements_text(
       case when jsonb_typeof(body -> 'privateLocations') = 'array'
         then body -> 'privateLocations' else '[]'::jsonb end) as slug
     where account_id = $1 and group_id = $2::bigint`,
    [accountId, id],
  );
  return rows.map(({ slug }) => slug);
}

/** The ids of the first groups that name a private location. */
export async function groupsNamingLocation(
  sql: Sql,
  {
    accountId,
    slug,
    limit,
  }: { readonly accountId: string; readonly slug: string; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await sql.query<{ id: number }>(
    `select id from check_groups
     where account_id = $1 and private_locations ? $2
     order by id limit $3::bigint`,
    [accountId, slug, limit],
  );
  return rows.map(({ id }) => id);
}
