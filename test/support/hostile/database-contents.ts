import type { Store } from '../../../src/service/database/store.ts';

/** Count and digest of the rows of each table, without the times at which keys were used. */
export type Contents = Readonly<Record<string, string>>;

/** Tables without data of an account. */
const OF_NOBODY = [
  'list_epochs',
  'rollup_state',
  'schema_migrations',
  'service_alive',
  'sign_in_failures',
  'status_page_subscribe_counts',
];
/** Written from results when a quarter of an hour ends, whoever makes requests. */
const IN_TIME = /^(result_rollups|rollup_marks)/;
const USE = "(to_jsonb(t) - 'last_used_at')::text";
const USERS = 'select user_id from memberships where account_id = $1';

/**
 * The contents of the database, of one account or of all.
 *
 * @throws Error for a table without a known owner
 */
export async function contentsOf(store: Store, accountId: string | null): Promise<Contents> {
  const contents: Record<string, string> = {};
  for (const { table, names } of await tablesOf(store)) {
    if (IN_TIME.test(table)) continue;
    const filter = accountId === null ? 'true' : ownerOf(table, names);
    const [row] = await store.query<{ count: number; digest: string | null }>(
      `select count(*) as count, md5(string_agg(md5(${USE}), '' order by md5(${USE}))) as digest
       from "${table}" t where ${filter}`,
      accountId === null ? [] : [accountId],
    );
    // A partition of results may be created at any time.
    if (row !== undefined && row.count > 0) contents[table] = `${row.count} rows, ${row.digest}`;
  }
  return contents;
}

function ownerOf(table: string, columns: readonly string[]): string {
  if (table === 'accounts') return 'id = $1';
  if (columns.includes('account_id')) return 'account_id = $1';
  if (table === 'users') return `id in (${USERS})`;
  if (columns.includes('user_id')) return `user_id in (${USERS})`;
  if (columns.includes('location_id')) {
    return 'location_id in (select id from private_locations where account_id = $1)';
  }
  throw new Error(`the table ${table} has no known owner column`);
}

/** The ids and slugs of the account's resources, grouped by row. */
export async function idsOf(
  store: Store,
  accountId: string,
): Promise<readonly (readonly string[])[]> {
  const groups = new Map<string, readonly string[]>();
  for (const { table, names } of await tablesOf(store)) {
    // Their own ids are numbers that channels of others may have, too.
    if (table === 'events' || table === 'audit_log') continue;
    const columns = names.filter((name) => ID_COLUMN.test(name) && name !== 'account_id');
    if (columns.length === 0) continue;
    const list = columns.map((name) => `"${name}"::text`).join();
    const rows = await store.query<{ ids: readonly (string | null)[] }>(
      `select distinct array[${list}] as ids from "${table}" t where ${ownerOf(table, names)}`,
      [accountId],
    );
    for (const { ids } of rows) {
      const known = ids.filter((id) => id !== null);
      groups.set(known.join(), known);
    }
  }
  return [...groups.values()];
}

const ID_COLUMN = /^(id|slug|key|url|.*_id|.*_token|sha256)$/;

/**
 * Rows of one account that refer to another account's rows, as text: by a foreign key, or by the id
 * of a check that the account does not have.
 */
export async function strayRows(store: Store, victim: string): Promise<readonly string[]> {
  const tables = (await tablesOf(store)).filter(({ names }) => names.includes('account_id'));
  const owned = new Set(tables.map(({ table }) => table));
  const references = await store.query<Readonly<Record<'one' | 'name' | 'other' | 'key', string>>>(
    `select c.conrelid::regclass::text as one, a.attname::text as name,
       c.confrelid::regclass::text as other, b.attname::text as key
     from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[1]
     where c.contype = 'f' and cardinality(c.conkey) = 1`,
  );
  const stray: string[] = [];
  for (const { one, name, other, key } of references) {
    if (!owned.has(one) || !owned.has(other)) continue;
    const rows = await store.query(
      `select 1 from ${one} o join ${other} r on r.${key} = o.${name} where r.account_id <> o.account_id`,
    );
    if (rows.length > 0) stray.push(`${rows.length} of ${one} by ${name}`);
  }
  for (const { table, names } of tables) {
    if (!names.includes('check_id')) continue;
    const rows = await store.query(
      `select 1 from "${table}" t where account_id <> $1
         and check_id in (select id from checks where account_id = $1)`,
      [victim],
    );
    if (rows.length > 0) stray.push(`${rows.length} of ${table} by check_id`);
  }
  return stray;
}

async function tablesOf(
  store: Store,
): Promise<readonly { readonly table: string; readonly names: readonly string[] }[]> {
  const rows = await store.query<{ table: string; names: readonly string[] }>(
    `select table_name::text as "table", array_agg(column_name::text) as names
     from information_schema.columns where table_schema = 'public' group by 1 order by 1`,
  );
  return rows.filter(({ table }) => !OF_NOBODY.includes(table));
}
