import type { ErrorFacts, ErrorGroupArchive } from '../../model/result/error-group.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

/** Failures of a check, or of the test sessions of a project. */
export type ErrorGroupKind = 'check' | 'test-session';

export type StoredErrorGroup = Readonly<ErrorFacts> & {
  readonly id: string;
  /** The id of the check or of the project; empty for sessions without a project. */
  readonly scope: string;
  /** The environments of test sessions, sorted; null if none is known. */
  readonly environments: readonly string[] | null;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** Failed runs. */
  readonly occurrences: number;
  readonly archive: ErrorGroupArchive;
  /** null for groups of test sessions. */
  readonly checkName: string | null;
};

/** Failures of one group that were not counted before. */
export interface ErrorOccurrences extends ErrorFacts {
  readonly id: string;
  readonly scope: string;
  readonly environment: string | null;
  /** Epoch milliseconds, as is `lastMs`. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly occurrences: number;
}

export interface ErrorGroupKey {
  readonly accountId: string;
  readonly kind: ErrorGroupKind;
  readonly id: string;
}

const COLUMNS = `id, scope, environments, error_hash, raw_message as raw_error_message,
  cleaned_message as cleaned_error_message, first_seen, last_seen, occurrences, archive,
  (select c.name from checks c where c.account_id = error_groups.account_id
    and c.id = error_groups.check_id) as check_name`;

/** Maximum number of environments of a group. The first ones by name are stored. */
const MAX_ENVIRONMENTS = 100;

/**
 * Adds failures to their groups, and creates missing groups. The order of the failures does not
 * matter: the raw message is that of the earliest. A failure that began after the group was archived
 * unarchives it, unless it is archived for ever.
 *
 * @param occurrences at most one of each group
 * @returns the scopes with a new group
 */
export async function addOccurrences(
  sql: Sql,
  {
    accountId,
    kind,
    occurrences,
  }: {
    readonly accountId: string;
    readonly kind: ErrorGroupKind;
    readonly occurrences: readonly ErrorOccurrences[];
  },
): Promise<readonly string[]> {
  if (occurrences.length === 0) return [];
  // Locking rows in the same order prevents deadlocks.
  const ordered = occurrences.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const rows = await sql.query<{ scope: string; isNew: boolean }>(
    `insert into error_groups as g (account_id, kind, id, scope, check_id, environments, error_hash,
       raw_message, cleaned_message, first_seen, last_seen, occurrences)
     select $1, $2, s ->> 'id', s ->> 'scope', case when $2 = 'check' then s ->> 'scope' end,
       case when s ->> 'environment' is not null then array[s ->> 'environment'] end,
       s ->> 'errorHash', s ->> 'rawErrorMessage', s ->> 'cleanedErrorMessage',
       to_timestamp((s -> 'firstMs')::float8 / 1000), to_timestamp((s -> 'lastMs')::float8 / 1000),
       (s -> 'occurrences')::bigint
     from jsonb_array_elements($3::jsonb) s
     on conflict (account_id, id) do update set
       environments = case
         when excluded.environments is null then g.environments
         when g.environments @> excluded.environments then g.environments
         else array(select name from (select unnest(g.environments) union
             select unnest(excluded.environments)) as known (name)
           order by name collate "C" limit ${MAX_ENVIRONMENTS}) end,
       raw_message = case
         when excluded.first_seen < g.first_seen or (excluded.first_seen = g.first_seen
           and excluded.raw_message collate "C" < g.raw_message collate "C")
         then excluded.raw_message else g.raw_message end,
       first_seen = least(g.first_seen, excluded.first_seen),
       last_seen = greatest(g.last_seen, excluded.last_seen),
       occurrences = g.occurrences + excluded.occurrences,
       archive = case when g.archive = 'until-next-event' and excluded.last_seen > g.archived_at
         then 'none' else g.archive end,
       archived_at = case when g.archive = 'until-next-event' and excluded.last_seen > g.archived_at
         then null else g.archived_at end
     returning g.scope, (g.xmax = 0) as is_new`,
    [accountId, kind, jsonText(ordered)],
  );
  return [...new Set(rows.filter(({ isNew }) => isNew).map(({ scope }) => scope))];
}

/**
 * Deletes the groups of each scope beyond a maximum, least recently seen first. Groups that are archived
 * forever do not count and stay. Skips groups that other transactions have locked: these may wait for a group
 * that is locked here.
 *
 * @returns how many it deleted
 */
export async function removeBeyond(
  sql: Sql,
  {
    accountId,
    kind,
    scopes,
    maxGroups,
  }: {
    readonly accountId: string;
    readonly kind: ErrorGroupKind;
    readonly scopes: readonly string[];
    readonly maxGroups: number;
  },
): Promise<number> {
  if (scopes.length === 0) return 0;
  const rows = await sql.query(
    `delete from error_groups where account_id = $1 and id = any (array(
       select held.id from error_groups held where held.account_id = $1 and held.id = any (array(
         select beyond.id from unnest($3::text[]) as grown (scope) cross join lateral (
           select o.id from error_groups o
           where o.account_id = $1 and o.kind = $2 and o.scope = grown.scope
             and o.archive <> 'for-ever'
           order by o.last_seen desc, o.id offset $4::bigint) as beyond))
       for update skip locked))
     returning 1 as one`,
    [accountId, kind, scopes, maxGroups],
  );
  return rows.length;
}

export async function findErrorGroup(
  sql: Sql,
  key: ErrorGroupKey,
): Promise<StoredErrorGroup | null> {
  return readErrorGroup(sql, key, '');
}

/** Locks the group until the transaction ends. */
export async function lockErrorGroup(
  sql: Sql,
  key: ErrorGroupKey,
): Promise<StoredErrorGroup | null> {
  return readErrorGroup(sql, key, 'for update');
}

async function readErrorGroup(
  sql: Sql,
  { accountId, kind, id }: ErrorGroupKey,
  lock: '' | 'for update',
): Promise<StoredErrorGroup | null> {
  const [row] = await sql.query<StoredErrorGroup>(
    `select ${COLUMNS} from error_groups where account_id = $1 and kind = $2 and id = $3 ${lock}`,
    [accountId, kind, id],
  );
  return row ?? null;
}

export interface ErrorGroupFilter extends AccountRange {
  readonly kind: ErrorGroupKind;
  /** null for all. */
  readonly scope: string | null;
  /** null for both. */
  readonly isArchived: boolean | null;
}

/** Most recently seen first. */
export async function listErrorGroups(
  sql: Sql,
  filter: ErrorGroupFilter,
): Promise<readonly StoredErrorGroup[]> {
  const list = {
    columns: COLUMNS,
    from: 'error_groups',
    // Each of the two conditions has an index in this order.
    where: `account_id = $1 and kind = $2${filter.scope === null ? '' : ' and scope = $4'}`,
    filter: "$3::boolean is null or (archive <> 'none') = $3::boolean",
    params: [
      filter.accountId,
      filter.kind,
      filter.isArchived,
      ...(filter.scope === null ? [] : [filter.scope]),
    ],
    order: 'last_seen desc, id',
  };
  return readList<StoredErrorGroup>(sql, list, filter);
}

/** Only for a group that `lockErrorGroup` locks. */
export async function archiveErrorGroup(
  sql: Sql,
  {
    accountId,
    kind,
    id,
    archive,
    archivedAtMs,
  }: ErrorGroupKey & { readonly archive: ErrorGroupArchive; readonly archivedAtMs: number },
): Promise<StoredErrorGroup | null> {
  const [row] = await sql.query<StoredErrorGroup>(
    `update error_groups
     set archive = $4, archived_at = case when $4 = 'none' then null else $5::timestamptz end
     where account_id = $1 and kind = $2 and id = $3
     returning ${COLUMNS}`,
    [accountId, kind, id, archive, new Date(archivedAtMs)],
  );
  return row ?? null;
}

export async function countArchivedForEver(
  sql: Sql,
  {
    accountId,
    kind,
    scope,
  }: { readonly accountId: string; readonly kind: ErrorGroupKind; readonly scope: string },
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from error_groups
     where account_id = $1 and kind = $2 and scope = $3 and archive = 'for-ever'`,
    [accountId, kind, scope],
  );
  return row?.count ?? 0;
}

/**
 * Deletes groups that were last seen before the instant. Skips groups that other transactions have locked:
 * these may just be seen again.
 *
 * @returns how many it deleted, at most the limit
 */
export async function deleteErrorGroupsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `with old as (
       select account_id, id from error_groups
       where last_seen < $1::timestamptz and archive <> 'for-ever'
       order by last_seen limit $2::bigint for update skip locked
     )
     delete from error_groups g using old where g.account_id = old.account_id and g.id = old.id
     returning 1 as one`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
