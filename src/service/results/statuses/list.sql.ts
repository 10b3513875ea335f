import type { StoredCheckType } from '../../../model/enums.ts';
import {
  CHECK_STATES,
  type CheckState,
  type UnknownReason,
} from '../../../model/result/check-state.ts';
import {
  CHECK_RUN_LOCATIONS,
  CHECK_STATE,
  CHECK_STATE_SINCE,
  CHECK_UNKNOWN_REASON,
  CHECKS_WITH_STATUS,
  type CheckFilter,
  checksMatching,
} from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { ListRange } from '../../database/lists/list-walk.ts';
import { readList } from '../../database/lists/lists.ts';
import type { Sql } from '../../database/store.ts';
import { HEARTBEAT_OF_STATUS, type HeartbeatOfStatus } from '../../heartbeats/shared.sql.ts';
import type { StatusOrder } from './sort-names.ts';

/** A check with its state, and with its status if it has one. */
export type CheckWithStatus = {
  readonly checkId: string;
  readonly name: string;
  readonly checkType: StoredCheckType;
  readonly activated: boolean;
  readonly muted: boolean;
  readonly mutedByGroup: boolean;
  readonly tags: readonly string[];
  /** The tags of its group. */
  readonly groupTags: readonly string[];
  readonly groupId: number | null;
  /** Public and private locations; empty for a heartbeat. */
  readonly locations: readonly string[];
  readonly state: CheckState;
  readonly since: Date | null;
  /** null in another state. */
  readonly unknownReason: UnknownReason | null;
  /** false: no run of the check has ended, and the fields below are null. */
  readonly hasStatus: boolean;
  readonly hasFailures: boolean | null;
  readonly hasErrors: boolean | null;
  readonly isDegraded: boolean | null;
  readonly longestRun: number | null;
  readonly shortestRun: number | null;
  readonly lastRunLocation: string | null;
  readonly lastCheckRunId: string | null;
  readonly lastRunAt: Date | null;
  readonly lastResponseTime: number | null;
  readonly lastErrorCode: string | null;
  readonly lastErrorMessage: string | null;
  readonly lastErrorLocation: string | null;
  readonly lastErrorAt: Date | null;
  readonly sslDaysRemaining: number | null;
  /** null for checks of other types. */
  readonly heartbeat: HeartbeatOfStatus | null;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
};

const COLUMNS = `c.id as check_id, c.name, c.check_type, c.activated, c.muted, c.tags, c.group_id,
  coalesce(g.muted, false) as muted_by_group, coalesce(g.tags, '[]'::jsonb) as group_tags,
  ${CHECK_RUN_LOCATIONS} as locations, ${CHECK_STATE} as state, ${CHECK_STATE_SINCE} as since,
  ${CHECK_UNKNOWN_REASON} as unknown_reason, s.check_id is not null as has_status,
  s.has_failures, s.has_errors, s.is_degraded, s.longest_run, s.shortest_run, s.last_run_location,
  s.last_check_run_id, s.last_slot as last_run_at, s.last_response_time, s.last_error_code,
  s.last_error_message, s.last_error_location, s.last_error_slot as last_error_at,
  s.ssl_days_remaining, ${HEARTBEAT_OF_STATUS}, s.created_at, s.updated_at`;

const URGENCY = `array_position(array[${CHECK_STATES.map((state) => `'${state}'`).join(', ')}],
  ${CHECK_STATE})`;

/** Checks without the value come last. */
const ORDERS: Readonly<Record<StatusOrder, string>> = {
  // The most urgent first, of one state the latest change first.
  state: `${URGENCY}, ${CHECK_STATE_SINCE} desc nulls last`,
  name: 'lower(c.name)',
  '-name': 'lower(c.name) desc',
  since: `${CHECK_STATE_SINCE} nulls last`,
  '-since': `${CHECK_STATE_SINCE} desc nulls last`,
  lastRunAt: 's.last_slot nulls last',
  '-lastRunAt': 's.last_slot desc nulls last',
  lastResponseTime: 's.last_response_time nulls last',
  '-lastResponseTime': 's.last_response_time desc nulls last',
  sslDaysRemaining: 's.ssl_days_remaining nulls last',
  '-sslDaysRemaining': 's.ssl_days_remaining desc nulls last',
};

/** Call `OutdatedStates.refresh` before. */
export function listStatuses(
  sql: Sql,
  {
    order,
    range,
    ...filter
  }: CheckFilter & {
    readonly order: StatusOrder;
    readonly range: ListRange;
  },
): Promise<readonly CheckWithStatus[]> {
  const { condition, params } = checksMatching(filter);
  const list = {
    columns: COLUMNS,
    from: CHECKS_WITH_STATUS,
    where: condition,
    params,
    order: `${ORDERS[order]}, c.id`,
    id: { sql: 'c.id', type: 'text' } as const,
    position: 'c.list_position',
  };
  return readList<CheckWithStatus>(sql, list, range);
}

/** null for a check that does not exist. Call `OutdatedStates.refresh` before. */
export async function findStatus(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<CheckWithStatus | null> {
  const [row] = await sql.query<CheckWithStatus>(
    `select ${COLUMNS} from ${CHECKS_WITH_STATUS} where c.account_id = $1 and c.id = $2`,
    [accountId, id],
  );
  return row ?? null;
}

/** How many of the checks are in each state; states without any are missing. */
export async function countStates(
  sql: Sql,
  filter: CheckFilter,
): Promise<ReadonlyMap<CheckState, number>> {
  const { condition, params } = checksMatching(filter);
  const rows = await sql.query<{ state: CheckState; checks: number }>(
    `select ${CHECK_STATE} as state, count(*)::int as checks from ${CHECKS_WITH_STATUS}
     where ${condition} group by 1`,
    params,
  );
  return new Map(rows.map(({ state, checks }) => [state, checks]));
}
