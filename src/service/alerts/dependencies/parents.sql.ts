import type { AlertState } from '../../../model/alerting/alert-state-machine.ts';
import type { Frequency } from '../../../model/enums.ts';
import { PRIVATE_LOCATIONS_IN_FORCE } from '../../checks/shared.sql.ts';
import type { Sql } from '../../database/store.ts';
import { type StoredState, stateOf } from '../states.sql.ts';

/** A check that others depend on. */
export type StoredParent = {
  readonly checkId: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly isMuted: boolean;
  /** Whether it is assigned to a private location: otherwise it does not run. */
  readonly isAssigned: boolean;
  readonly frequency: Frequency;
  readonly frequencyOffset: number | null;
  /** null for one that always passed. */
  readonly state: AlertState | null;
};

type ParentRow = Omit<StoredParent, 'state'> & { readonly state: StoredState | null };

/** Omits checks that do not exist. */
export async function findParents(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly StoredParent[]> {
  if (ids.length === 0) return [];
  const rows = await sql.query<ParentRow>(
    `select c.id as check_id, c.name,
       c.activated and coalesce(g.activated, true) as is_active,
       c.muted or coalesce(g.muted, false) as is_muted,
       ${PRIVATE_LOCATIONS_IN_FORCE} <> '[]'::jsonb as is_assigned,
       c.frequency, c.body -> 'frequencyOffset' as frequency_offset, s.body -> 'state' as state
     from checks c
       left join check_groups g on g.id = c.group_id and g.account_id = c.account_id
       left join check_alert_states s on s.account_id = c.account_id and s.check_id = c.id
     where c.account_id = $1 and c.id = any($2::text[])`,
    [accountId, ids],
  );
  return rows.map(({ state, ...row }) => ({
    ...row,
    state: state === null ? null : stateOf(state),
  }));
}
