import type { Sql } from '../../database/store.ts';
import type { AgentOfLocation, OfLocation } from '../sql.ts';

/** Notified without a payload whenever a row of location_changes is written. */
export const CHANGES_CHANNEL = 'vedette_changes';
/** Notified with a location's id when its agents should get a new answer. */
export const ASSIGNMENTS_CHANNEL = 'vedette_assignments';

/** How long a tombstone is retained: see assignment_tombstones. */
const TOMBSTONE_AGE = `interval '1 day'`;

export type LocationChanges = {
  readonly count: number;
  /** Some of the changes concern all checks of the location. */
  readonly everything: boolean;
  /** Agents that gave their leases back. */
  readonly goneAgents: readonly string[];
  /** The checks that changed; null if there are more than `maxChecks`. */
  readonly checkIds: readonly string[] | null;
};

/** Records that an agent is new or changed: all checks of the location are assigned again. */
export function noteAgentChange(sql: Sql, { locationId }: OfLocation): Promise<void> {
  return noteChange(sql, locationId, null);
}

/** Records that an agent is gone: its checks are assigned to others. */
export function noteGoneAgent(sql: Sql, { locationId, agentId }: AgentOfLocation): Promise<void> {
  return noteChange(sql, locationId, agentId);
}

async function noteChange(sql: Sql, locationId: string, goneAgent: string | null): Promise<void> {
  await sql.query(
    `with noted as (
       insert into location_changes (location_id, gone_agent) values ($1, $2) returning id
     )
     select pg_notify($3, '')::text from noted`,
    [locationId, goneAgent, CHANGES_CHANNEL],
  );
}

/**
 * Removes and returns the recorded changes of the location. Later statements of the transaction see these
 * changes; a change after that is recorded again.
 */
export async function claimLocationChanges(
  sql: Sql,
  { locationId, maxChecks }: OfLocation & { readonly maxChecks: number },
): Promise<LocationChanges> {
  const [changes] = await sql.query<LocationChanges>(
    `with taken as (
       delete from location_changes where location_id = $1 returning check_id, gone_agent
     )
     select count(*) as count,
       coalesce(bool_or(check_id is null and gone_agent is null), false) as everything,
       coalesce(array_agg(distinct gone_agent) filter (where gone_agent is not null), '{}')
         as gone_agents,
       case when count(distinct check_id) <= $2::int then
         coalesce(array_agg(distinct check_id) filter (where check_id is not null), '{}')
       end as check_ids
     from taken`,
    [locationId, maxChecks],
  );
  return changes ?? { count: 0, everything: false, goneAgents: [], checkIds: [] };
}

/** Locations with something to do: a change, an expired lease, expired tombstones. */
export async function locationsToAssign(
  sql: Sql,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ locationId: string }>(
    `select location_id from (
       select location_id from location_changes
       union select location_id from agents where lease_until < now()
       union select location_id from assignment_tombstones where created_at < now() - ${TOMBSTONE_AGE}
     ) due
     where location_id <> all($1::text[])
     order by location_id limit $2::int`,
    [except, limit],
  );
  return rows.map(({ locationId }) => locationId);
}

/**
 * Deletes expired tombstones. The caller has locked the location with `lockAssignments`.
 *
 * @returns whether there were any
 */
export async function purgeTombstones(sql: Sql, { locationId }: OfLocation): Promise<boolean> {
  const rows = await sql.query(
    `with purged as (
       delete from assignment_tombstones
       where location_id = $1 and created_at < now() - ${TOMBSTONE_AGE}
       returning revision
     )
     update location_assignments
     set purged_revision = greatest(purged_revision, (select max(revision) from purged))
     where location_id = $1 and exists (select from purged)
     returning location_id`,
    [locationId],
  );
  return rows.length > 0;
}

/** Wakes the held polls of the location's agents, in every replica, when the transaction ends. */
export async function notifyLocation(sql: Sql, { locationId }: OfLocation): Promise<void> {
  await sql.query('select pg_notify($1, $2)::text', [ASSIGNMENTS_CHANNEL, locationId]);
}
