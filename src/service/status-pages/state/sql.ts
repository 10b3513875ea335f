import type { CheckState } from '../../../model/result/check-state.ts';
import type { FailureRule } from '../../../model/status-page/status-page.ts';
import {
  CHECK_LOCATIONS,
  CHECK_STATE,
  CHECK_STATE_SINCE,
  CHECKS_WITH_STATUS,
} from '../../checks/shared.sql.ts';
import type { Sql } from '../../database/store.ts';

/** A service and what measures it. */
export type MeasuredService = {
  readonly id: string;
  /** Checks and heartbeats. */
  readonly checkIds: readonly string[];
  readonly checkTags: readonly string[];
  readonly failureRule: FailureRule;
  readonly failureLocations: number | null;
  readonly showUptime: boolean;
};

/** The services on the cards of the page, each once. */
export function measuredServicesOf(
  sql: Sql,
  { accountId, pageId }: { readonly accountId: string; readonly pageId: string },
): Promise<readonly MeasuredService[]> {
  return sql.query<MeasuredService>(
    `select s.id, s.check_tags, s.failure_rule, s.failure_locations, s.show_uptime, array(
         select l.check_id from status_page_service_checks l
         where l.account_id = s.account_id and l.service_id = s.id order by l.position
       ) as check_ids
     from status_page_services s
     where s.account_id = $1 and s.id in (
       select l.service_id from status_page_cards c
         join status_page_card_services l on l.account_id = c.account_id and l.card_id = c.id
       where c.account_id = $1 and c.status_page_id = $2)`,
    [accountId, pageId],
  );
}

/** The ids of the checks and heartbeats with one of the tags, or whose group has one. */
export async function checkIdsWithTags(
  sql: Sql,
  { accountId, tags }: { readonly accountId: string; readonly tags: readonly string[] },
): Promise<readonly string[]> {
  if (tags.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `select c.id from checks c where c.account_id = $1 and c.tags ?| $2::text[]
     union
     select c.id from check_groups g
       join checks c on c.group_id = g.id and c.account_id = g.account_id
     where g.account_id = $1 and g.tags ?| $2::text[]`,
    [accountId, tags],
  );
  return rows.map(({ id }) => id);
}

export type StoredCheckState = {
  readonly id: string;
  readonly isHeartbeat: boolean;
  /** Its own and those of its group. */
  readonly tags: readonly string[];
  readonly state: CheckState;
  readonly since: Date | null;
  /** The slot of the last run that judged the target; null before it. */
  readonly judgedAt: Date | null;
  /** Milliseconds; null before the first run, and after a fault of the system. */
  readonly lastResponseTime: number | null;
  /** Milliseconds between two slots; 0 of a heartbeat. */
  readonly periodMs: number;
  readonly runParallel: boolean;
  /** How many locations it has. */
  readonly locations: number;
};

/** The states of the checks that exist. Call `OutdatedStates.refresh` before. */
export function checkStatesOf(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly StoredCheckState[]> {
  return sql.query<StoredCheckState>(
    `select c.id, c.check_type = 'HEARTBEAT' as is_heartbeat,
       c.tags || coalesce(g.tags, '[]') as tags, ${CHECK_STATE} as state,
       ${CHECK_STATE_SINCE} as since, coalesce(s.state_slot, s.last_slot) as judged_at,
       s.last_response_time,
       case when c.frequency > 0 then c.frequency * 60000
         else coalesce((c.body ->> 'frequencyOffset')::int, 0) * 1000 end as period_ms,
       coalesce((c.body -> 'runParallel')::boolean, false) as run_parallel,
       jsonb_array_length(${CHECK_LOCATIONS}) as locations
     from ${CHECKS_WITH_STATUS}
     where c.account_id = $1 and c.id = any($2::text[])`,
    [accountId, ids],
  );
}

/** Limit per check: 100 locations at one run a minute make 100 rows a minute. */
const MAX_LATEST_RUNS = 2_000;

/**
 * Returns the slots of the latest runs that failed, one for each location. Ignores locations without a run since
 * `sinceMs`.
 */
export async function failedLocationsOf(
  sql: Sql,
  {
    accountId,
    checks,
  }: {
    readonly accountId: string;
    readonly checks: readonly { readonly id: string; readonly sinceMs: number }[];
  },
): Promise<readonly { readonly checkId: string; readonly slot: Date }[]> {
  if (checks.length === 0) return [];
  const oldestMs = checks.reduce((least, { sinceMs }) => Math.min(least, sinceMs), Infinity);
  return sql.query<{ checkId: string; slot: Date }>(
    `select checks.id as check_id, latest.slot
     from unnest($2::text[], $3::timestamptz[]) as checks (id, since)
     cross join lateral (
       -- The worst of several runs of a slot in one location.
       select distinct on (run_location) slot, passed
       from (
         select run_location, slot, passed from result_metrics
         where account_id = $1 and check_id = checks.id and slot >= checks.since
           and slot >= $4::timestamptz
         order by slot desc limit ${MAX_LATEST_RUNS}
       ) as runs
       order by run_location, slot desc, passed
     ) as latest
     where not latest.passed`,
    [
      accountId,
      checks.map(({ id }) => id),
      checks.map(({ sinceMs }) => new Date(sinceMs)),
      new Date(oldestMs),
    ],
  );
}
