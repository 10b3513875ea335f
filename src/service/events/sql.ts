import type { ListPosition } from '../database/lists/list-walk.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

/** The channel of notifications; the payload is the id of an account with new events. */
export const EVENTS_CHANNEL = 'vedette_events';

export type StoredEvent = {
  readonly id: number;
  /** One of EVENT_KINDS, or another of a newer replica. */
  readonly kind: string;
  readonly resourceId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

export type FollowedEvent = StoredEvent & {
  readonly accountId: string;
  readonly position: string;
  /** Whether no earlier event can still appear. Settled events come first. */
  readonly isSettled: boolean;
};

const COLUMNS = 'id, kind, resource_id, data, at';

/** Newest first. */
export function listEvents(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredEvent[]> {
  const list = {
    columns: COLUMNS,
    from: 'events',
    where: 'account_id = $1',
    params: [accountId],
    order: 'list_position desc, id desc',
    id: NUMBER_ID,
  };
  return readList<StoredEvent>(sql, list, range);
}

/** Reads the events after the given position of each account, oldest first, at most `limit` per account. */
export function eventsAfter(
  sql: Sql,
  accounts: readonly (ListPosition & { readonly accountId: string })[],
  limit: number,
): Promise<readonly FollowedEvent[]> {
  return sql.query<FollowedEvent>(
    `select w.account_id, e.list_position::text as position, e.id, e.kind, e.resource_id, e.data, e.at,
       e.list_position < h.horizon as is_settled
     from (select list_horizon() as horizon) h
       cross join unnest($1::text[], $2::bigint[], $3::bigint[]) as w (account_id, position, id)
       cross join lateral (
         select * from events o
         where o.account_id = w.account_id and (o.list_position, o.id) > (w.position, w.id)
         order by o.list_position, o.id limit $4::bigint) e
     order by w.account_id, e.list_position, e.id`,
    [
      accounts.map(({ accountId }) => accountId),
      accounts.map(({ position }) => position),
      accounts.map(({ id }) => id),
      limit,
    ],
  );
}

/** The position after all events except those that running transactions may still store. */
export async function latestPosition(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ position: string }>(
    'select (list_horizon() - 1)::text as position',
  );
  return row?.position ?? '0';
}

/** Whether events of the account after the position were deleted. */
export async function isBeforeDeleted(
  sql: Sql,
  { accountId, position, id }: ListPosition & { readonly accountId: string },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from event_floors where account_id = $1
       and (list_position, id) > ($2::bigint, $3::bigint)`,
    [accountId, position, id],
  );
  return rows.length > 0;
}

/** SQL that deletes the rows whose ctid `chosen` selects, and stores the last deleted position of each account. */
function deletion(chosen: string): string {
  return `with gone as (
      delete from events where ctid = any (array(${chosen}))
      returning account_id, list_position, id
    ), last as (
      select distinct on (account_id) account_id, list_position, id from gone
      order by account_id, list_position desc, id desc
    ), noted as (
      insert into event_floors (account_id, list_position, id)
      select account_id, list_position, id from last order by account_id
      on conflict (account_id) do update set list_position = excluded.list_position, id = excluded.id
      where (excluded.list_position, excluded.id) > (event_floors.list_position, event_floors.id)
    )
    select count(*) as deleted from gone`;
}

/** @returns how many it deleted, at most the limit */
export async function deleteEventsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const [row] = await sql.query<{ deleted: number }>(
    deletion('select ctid from events where at < $1::timestamptz order by at limit $2::bigint'),
    [new Date(beforeMs), limit],
  );
  return row?.deleted ?? 0;
}

/**
 * Deletes the oldest events of accounts that have more than `keep`.
 *
 * @returns how many it deleted
 */
export async function deleteEventsBeyond(sql: Sql, keep: number): Promise<number> {
  const [row] = await sql.query<{ deleted: number }>(
    deletion(`select old.at_row from (
        select account_id from events group by account_id having count(*) > $1::bigint) full_account
      cross join lateral (
        select o.ctid as at_row from events o where o.account_id = full_account.account_id
        order by o.list_position desc, o.id desc offset $1::bigint) old`),
    [keep],
  );
  return row?.deleted ?? 0;
}
