import type { Snippet } from '../../model/account/snippet.ts';
import type { AccountKey } from '../database/account-key.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { AccountRange, PageEntry } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

export interface StoredSnippet {
  readonly id: number;
  readonly fields: Snippet;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
}

type SnippetRow = Snippet & Omit<StoredSnippet, 'fields'>;

const COLUMNS = 'id, name, script, created_at, updated_at';

function snippetOf({ name, script, ...row }: SnippetRow): StoredSnippet {
  return { ...row, fields: { name, script } };
}

/** @returns null if the account has a snippet with that name */
export async function insertSnippet(
  sql: Sql,
  {
    accountId,
    fields,
    atMs,
  }: { readonly accountId: string; readonly fields: Snippet; readonly atMs: number },
): Promise<StoredSnippet | null> {
  const rows = await sql.query<SnippetRow>(
    `insert into snippets (account_id, name, script, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (account_id, name) do nothing returning ${COLUMNS}`,
    [accountId, fields.name, fields.script, new Date(atMs)],
  );
  return rows[0] === undefined ? null : snippetOf(rows[0]);
}

/**
 * Updates a snippet that `lockSnippet` has locked.
 *
 * @throws StoreError `conflict` where the account has another with that name
 */
export async function updateSnippet(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    atMs,
  }: AccountKey<number> & { readonly fields: Snippet; readonly atMs: number },
): Promise<StoredSnippet | null> {
  const rows = await sql.query<SnippetRow>(
    `update snippets set name = $3, script = $4, updated_at = $5::timestamptz
     where account_id = $1 and id = $2::bigint returning ${COLUMNS}`,
    [accountId, id, fields.name, fields.script, new Date(atMs)],
  );
  return rows[0] === undefined ? null : snippetOf(rows[0]);
}

export async function findSnippet(
  sql: Sql,
  key: AccountKey<number>,
): Promise<StoredSnippet | null> {
  return readSnippet(sql, key, '');
}

/** Locks the snippet until the transaction ends. */
export async function lockSnippet(
  sql: Sql,
  key: AccountKey<number>,
): Promise<StoredSnippet | null> {
  return readSnippet(sql, key, 'for update');
}

async function readSnippet(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
  lock: '' | 'for update',
): Promise<StoredSnippet | null> {
  const rows = await sql.query<SnippetRow>(
    `select ${COLUMNS} from snippets where account_id = $1 and id = $2::bigint ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : snippetOf(rows[0]);
}

/** The ids of a page of snippets, oldest first. */
export async function listSnippetEntries(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly PageEntry<number>[]> {
  const list = {
    columns: 'id, octet_length(script) as bytes',
    from: 'snippets',
    where: 'account_id = $1',
    params: [accountId],
    order: 'id',
    id: NUMBER_ID,
  };
  return readList<PageEntry<number>>(sql, list, range);
}

/** The snippets among these that still exist, in the order of the ids. */
export async function findSnippets(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] },
): Promise<readonly StoredSnippet[]> {
  const rows = await sql.query<SnippetRow>(
    `select ${COLUMNS} from snippets where account_id = $1 and id = any($2::bigint[])
     order by array_position($2::bigint[], id)`,
    [accountId, ids],
  );
  return rows.map(snippetOf);
}

/** @returns whether there was one */
export async function deleteSnippet(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<void> {
  await sql.query('delete from snippets where account_id = $1 and id = $2::bigint', [
    accountId,
    id,
  ]);
}

/** Locks snippets shared until the transaction ends; those that exist, with their lengths in characters. */
export async function lockSnippetsShared(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] },
): Promise<ReadonlyMap<number, number>> {
  const rows = await sql.query<{ id: number; chars: number }>(
    `select id, length(script) as chars from snippets
     where account_id = $1 and id = any($2::bigint[]) order by id for share`,
    [accountId, ids],
  );
  return new Map(rows.map(({ id, chars }) => [id, chars]));
}

/**
 * Locks the checks that run a snippet until the transaction ends. Call it before the snippet is locked, as a
 * change of a check locks them in that order.
 */
export async function lockChecksOfSnippet(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<void> {
  await sql.query(
    `select id from checks
     where account_id = $1 and id in (select checks_of_snippet($1, $2::bigint))
     order by id for update`,
    [accountId, id],
  );
}

export type SnippetUse = {
  readonly kind: 'check' | 'group';
  readonly id: string;
  readonly name: string;
};

/** The first checks and groups that run a snippet themselves. */
export async function findSnippetUses(
  sql: Sql,
  { accountId, id, limit }: AccountKey<number> & { readonly limit: number },
): Promise<readonly SnippetUse[]> {
  return sql.query<SnippetUse>(
    `select * from (
       select 'group' as kind, id::text as id, name from check_groups
       where account_id = $1 and $2::bigint in (setup_snippet_id, teardown_snippet_id)
       union all
       (select 'check', id, name from checks
        where account_id = $1 and check_type = 'API' and body ->> 'setupSnippetId' is not null
          and (body ->> 'setupSnippetId')::bigint = $2::bigint
        union
        select 'check', id, name from checks
        where account_id = $1 and check_type = 'API' and body ->> 'teardownSnippetId' is not null
          and (body ->> 'teardownSnippetId')::bigint = $2::bigint)
     ) as used order by kind, name, id limit $3::int`,
    [accountId, id, limit],
  );
}
