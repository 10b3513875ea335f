import type { ListRange } from '../database/lists/list-walk.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { FieldChange } from './changes.ts';
import type { ActorKind, AuditAction } from './kinds.ts';

/** Who made a change, and from which address. */
export interface Actor {
  readonly kind: ActorKind;
  /** null for `setup`, `operator` and `unknown`. */
  readonly id: string | null;
  /** The name of a `channel`. Names of other actors are looked up. */
  readonly name?: string;
  /** The IP address; null if there was no request. */
  readonly address: string | null;
}

export interface NewEntry {
  readonly accountId: string;
  readonly atMs: number;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly kind: string;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly changes: readonly FieldChange[];
  readonly dropped: number;
}

export type AuditEntry = {
  readonly id: number;
  readonly at: Date;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly address: string | null;
  readonly action: AuditAction;
  readonly kind: string;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly changes: readonly FieldChange[];
  readonly dropped: number;
  readonly count: number;
};

export interface AuditFilter {
  readonly actor: string | null;
  readonly kind: string | null;
  readonly resourceId: string | null;
  readonly action: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const COLUMNS = `id, at, actor_kind, actor_id, actor_name, address, action, kind, resource_id,
  resource_name, changes, dropped, count`;

/** Stores the current name of the actor: the email, or the name of the key or the channel. */
export async function insertEntry(sql: Sql, entry: NewEntry): Promise<void> {
  const { accountId, atMs, actor, action, kind, resourceId, resourceName, changes, dropped } =
    entry;
  await sql.query(
    `insert into audit_log (account_id, at, actor_kind, actor_id, actor_name, address, action, kind,
       resource_id, resource_name, changes, dropped)
     values ($1, $2::timestamptz, $3, $4,
       case $3::text when 'user' then (select email from users where id = $4)
         when 'key' then (select name from api_keys where account_id = $1 and id = $4)
         else $12::text end,
       $5, $6, $7, $8, $9, $10::jsonb, $11::integer)`,
    [
      accountId,
      new Date(atMs),
      actor.kind,
      actor.id,
      actor.address,
      action,
      kind,
      resourceId,
      resourceName,
      jsonText(changes),
      dropped,
      actor.name ?? null,
    ],
  );
}

/** Records an action of a user that belongs to no single account, such as signing in, in each of the user's accounts. */
export async function recordOfUser(
  sql: Sql,
  {
    userId,
    atMs,
    actor,
    address,
    action,
  }: {
    readonly userId: string;
    readonly atMs: number;
    /** `user`: the user did it. */
    readonly actor: 'user' | 'operator';
    /** null for a command of the operator. */
    readonly address: string | null;
    readonly action: AuditAction;
  },
): Promise<void> {
  await sql.query(
    `insert into audit_log (account_id, at, actor_kind, actor_id, actor_name, address, action, kind,
       resource_id, resource_name)
     select m.account_id, $2::timestamptz, $5, case when $5 = 'user' then u.id end,
       case when $5 = 'user' then u.email end, $3, $4, 'user', u.id, u.email
     from memberships m join users u on u.id = m.user_id where m.user_id = $1`,
    [userId, new Date(atMs), address, action, actor],
  );
}

/**
 * Records failed sign-ins of a user in each of the user's accounts. Those within a window share a row. Records
 * nothing if no user has the email.
 */
export async function addFailedSignIns(
  sql: Sql,
  {
    email,
    address,
    atMs,
    count,
    window,
  }: {
    readonly email: string;
    /** The address of the last failure. */
    readonly address: string;
    readonly atMs: number;
    readonly count: number;
    /** Names the window. */
    readonly window: string;
  },
): Promise<void> {
  await sql.query(
    `insert into audit_log as a (account_id, at, actor_kind, address, action, kind, resource_id,
       resource_name, count, shared_by)
     select m.account_id, $2::timestamptz, 'unknown', $3, 'sign-in-failed', 'user', u.id, u.email,
       $4::integer, 'sign-in-failed ' || u.id || ' ' || $5
     from users u join memberships m on m.user_id = u.id where u.email = $1
     on conflict (account_id, shared_by) do update set count = least(a.count, 1000000) + excluded.count,
       at = excluded.at, address = excluded.address, list_position = next_list_position()`,
    [email, new Date(atMs), address, count, window],
  );
}

/** Serializes the recording of changes of a resource, so that each starts from the state that the previous one left. */
export async function lockResource(sql: Sql, name: readonly string[]): Promise<void> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 30))', [name.join('\n')]);
}

/** Newest first. */
export function listEntries(
  sql: Sql,
  {
    accountId,
    actor,
    kind,
    resourceId,
    action,
    fromMs,
    toMs,
    ...range
  }: AuditFilter & ListRange & { readonly accountId: string },
): Promise<readonly AuditEntry[]> {
  const list = {
    columns: COLUMNS,
    from: 'audit_log',
    where: `account_id = $1
      and ($2::timestamptz is null or at >= $2::timestamptz)
      and ($3::timestamptz is null or at < $3::timestamptz)`,
    filter: `($4::text is null or $4 in (actor_id, actor_name)) and ($5::text is null or kind = $5)
      and ($6::text is null or resource_id = $6) and ($7::text is null or action = $7)`,
    params: [accountId, dateOf(fromMs), dateOf(toMs), actor, kind, resourceId, action],
    order: 'at desc, id desc',
    id: NUMBER_ID,
  };
  return readList<AuditEntry>(sql, list, range);
}

/** @returns how many it deleted */
export async function deleteEntriesBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from audit_log where id in (
       select id from audit_log where at < $1::timestamptz limit $2::bigint) returning id`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
