import type { StatusPageService } from '../../model/status-page/status-page.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

export type StoredService = Readonly<StatusPageService> & {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
};

/** A service on a card. */
export type CardService = Pick<
  StoredService,
  'id' | 'accountId' | 'name' | 'createdAt' | 'updatedAt'
>;

/** The ids of the checks of service `s` of which a condition on check `c` holds, in their order. */
const checkIdsWhere = (condition: string): string => `array(
    select l.check_id from status_page_service_checks l
      join checks c on c.account_id = l.account_id and c.id = l.check_id
    where l.account_id = s.account_id and l.service_id = s.id and ${condition}
    order by l.position)`;

/** The select list of service `s`. */
const COLUMNS = `s.id, s.account_id, s.name, s.check_tags, s.failure_rule, s.failure_locations,
  s.show_uptime, s.logical_id, ${checkIdsWhere(`c.check_type <> 'HEARTBEAT'`)} as check_ids,
  ${checkIdsWhere(`c.check_type = 'HEARTBEAT'`)} as heartbeat_ids, s.created_at, s.updated_at`;

function valuesOf({
  name,
  checkTags,
  failureRule,
  failureLocations,
  showUptime,
  logicalId,
}: StatusPageService): readonly unknown[] {
  return [name, jsonText(checkTags), failureRule, failureLocations, showUptime, logicalId];
}

/** Without its checks. */
export async function insertService(
  sql: Sql,
  {
    accountId,
    id,
    service,
    createdAtMs,
  }: AccountKey & { readonly service: StatusPageService; readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into status_page_services (name, check_tags, failure_rule, failure_locations,
       show_uptime, logical_id, account_id, id, created_at)
     values ($1, $2::jsonb, $3, $4::int, $5::boolean, $6, $7, $8, $9::timestamptz)`,
    [...valuesOf(service), accountId, id, new Date(createdAtMs)],
  );
}

export async function findService(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredService | null> {
  const [row] = await sql.query<StoredService>(
    `select ${COLUMNS} from status_page_services s where s.account_id = $1 and s.id = $2`,
    [accountId, id],
  );
  return row ?? null;
}

/**
 * Locks the service until the transaction ends: other transactions neither change it nor refer to it newly. Read
 * it after the lock.
 *
 * @returns false if there is no such service
 */
export async function lockService(sql: Sql, { accountId, id }: AccountKey): Promise<boolean> {
  const rows = await sql.query(
    'select id from status_page_services where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return rows.length > 0;
}

/** Oldest first. */
export async function listServices(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredService[]> {
  const list = {
    columns: COLUMNS,
    from: 'status_page_services s',
    where: 's.account_id = $1',
    params: [accountId],
    order: 's.n',
    id: { sql: 's.id', type: 'text' } as const,
    position: 's.list_position',
  };
  return readList<StoredService>(sql, list, range);
}

/** Without its checks. Only for a service that `lockService` locks. */
export async function updateService(
  sql: Sql,
  {
    accountId,
    id,
    service,
    updatedAtMs,
  }: AccountKey & { readonly service: StatusPageService; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_services set name = $1, check_tags = $2::jsonb, failure_rule = $3,
       failure_locations = $4::int, show_uptime = $5::boolean, logical_id = $6,
       updated_at = $9::timestamptz
     where account_id = $7 and id = $8`,
    [...valuesOf(service), accountId, id, new Date(updatedAtMs)],
  );
}

export type MeasuringKind = 'checks' | 'heartbeats';

/**
 * Saves all checks of the service that are heartbeats, or all others, in their order. Only for a service that
 * is new or locked, and for checks of this kind that are locked.
 */
export async function replaceServiceChecks(
  sql: Sql,
  {
    accountId,
    id,
    kind,
    checkIds,
  }: AccountKey & { readonly kind: MeasuringKind; readonly checkIds: readonly string[] },
): Promise<void> {
  await sql.query(
    `delete from status_page_service_checks l using checks c
     where l.account_id = $1 and l.service_id = $2 and c.account_id = l.account_id
       and c.id = l.check_id and (c.check_type = 'HEARTBEAT') = $3::boolean`,
    [accountId, id, kind === 'heartbeats'],
  );
  if (checkIds.length === 0) return;
  await sql.query(
    `insert into status_page_service_checks (account_id, service_id, check_id, position)
     select $1, $2, given.id, given.position
     from unnest($3::text[]) with ordinality as given (id, position)`,
    [accountId, id, checkIds],
  );
}

/** The database deletes it from cards and incidents, too. */
export async function deleteService(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query('delete from status_page_services where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/**
 * Locks these services in share mode until the transaction ends, so that none is deleted.
 *
 * @returns the ids of those that exist
 */
export async function lockServicesShared(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql.query<{ id: string }>(
    `select id from status_page_services where account_id = $1 and id = any($2::text[])
     order by id for key share`,
    [accountId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}
