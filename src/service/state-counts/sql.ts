import type { CheckState } from '../../model/result/check-state.ts';
import { CHECK_STATE, CHECKS_WITH_STATUS } from '../checks/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import type { LiveAgentCount } from './service-counts.ts';

/** How many checks of all accounts are in each state that there is. */
export function countCheckStates(
  sql: Sql,
): Promise<readonly { readonly state: CheckState; readonly checks: number }[]> {
  return sql.query<{ state: CheckState; checks: number }>(
    `select ${CHECK_STATE} as state, count(*) as checks from ${CHECKS_WITH_STATUS} group by 1`,
  );
}

/** The live agents of the oldest private locations, and how many locations there are. */
export async function countLiveAgents(
  sql: Sql,
  { limit }: { readonly limit: number },
): Promise<{ readonly first: readonly LiveAgentCount[]; readonly locations: number }> {
  const first = await sql.query<LiveAgentCount>(
    `select l.account_id, l.slug as location, (
       select count(*) from agents g where g.location_id = l.id and g.lease_until > now()
     ) as agents
     from private_locations l order by l.created_at, l.id limit $1::bigint`,
    [limit],
  );
  const [row] = await sql.query<{ locations: number }>(
    'select count(*) as locations from private_locations',
  );
  return { first, locations: row?.locations ?? 0 };
}
