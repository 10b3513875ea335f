import { PRIVATE_LOCATIONS_IN_FORCE } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { CAN_RUN } from './claims.sql.ts';

/** A private location that runs a check. */
export type CheckLocation = {
  readonly checkId: string;
  readonly id: string;
  readonly slug: string;
  /** A live agent there can run the check. */
  readonly isLive: boolean;
  /** The agent that the check is assigned to there is live. */
  readonly isAssigned: boolean;
};

/**
 * The private locations of checks (`c`), each in its order (`named.n`): those of its group if that names
 * any, else its own. A heartbeat has none.
 */
const LOCATIONS = `select l.id, l.slug, c.id as check_id,
    exists (
      select from agents a
      where a.location_id = l.id and a.lease_until > now() and ${CAN_RUN}) as is_live,
    exists (
      select from assignments s join agents a on a.location_id = s.location_id
        and a.id = s.agent_id and a.epoch = s.agent_epoch and a.lease_until > now()
      where s.location_id = l.id and s.check_id = c.id) as is_assigned
  from checks c
  left join check_groups g on g.id = c.group_id and g.account_id = c.account_id
  cross join lateral (
    select slug, min(n) as n
    from jsonb_array_elements_text(${PRIVATE_LOCATIONS_IN_FORCE})
      with ordinality as listed (slug, n)
    group by slug) named
  join private_locations l on l.account_id = c.account_id and l.slug = named.slug
  where c.account_id = $1 and c.check_type <> 'HEARTBEAT'`;

/** In the order of the check or of its group. */
export function locationsOfCheck(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<readonly CheckLocation[]> {
  return sql.query<CheckLocation>(`${LOCATIONS} and c.id = $2 order by named.n`, [accountId, id]);
}

/** The private locations of all checks of a group. */
export function locationsOfGroup(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<readonly CheckLocation[]> {
  return sql.query<CheckLocation>(
    `${LOCATIONS} and c.group_id = $2::bigint order by c.id, named.n`,
    [accountId, id],
  );
}
