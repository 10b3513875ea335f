import type { Sql } from '../../database/store.ts';

/** The ids of checks whose state is outdated, in order, after a given id. */
export async function outdatedStates(
  sql: Sql,
  {
    accountId,
    checkId,
    afterId,
    limit,
  }: {
    readonly accountId: string;
    /** null for all checks of the account. */
    readonly checkId: string | null;
    readonly afterId: string;
    readonly limit: number;
  },
): Promise<readonly string[]> {
  const rows = await sql.query<{ checkId: string }>(
    `select check_id from check_statuses
     where account_id = $1 and state_version is null and check_id > $2
       and check_id = coalesce($3, check_id)
     order by check_id limit $4::bigint`,
    [accountId, afterId, checkId, limit],
  );
  return rows.map((row) => row.checkId);
}

/** The rows of a check's runs that judged its target; `t` is its status. */
const RUNS = 'from result_metrics m where m.account_id = t.account_id and m.check_id = t.check_id';

/** The rows of its FINALs that did not pass. */
const NOT_PASSED = `from check_results f
  where f.account_id = t.account_id and f.check_id = t.check_id and f.result_type = 'FINAL'
    and (f.has_failures or f.is_degraded) and not f.has_errors
    and not coalesce((f.body -> 'isCancelled')::boolean, false)`;

/** The state of a slot in which the target was judged: the worst of its runs. */
const stateAt = (slot: string): string => `case
  when exists (select ${NOT_PASSED} and f.slot = ${slot} and f.has_failures) then 'failing'
  when exists (select ${NOT_PASSED} and f.slot = ${slot}) then 'degraded'
  else 'passing' end`;

/**
 * Reads outdated states from the results of the checks, and those of heartbeats from their events. The
 * caller has locked the checks with `lockSubjects`. Only results within the retention count; a stretch
 * that began before them keeps its beginning. A heartbeat that is pinged meanwhile stays outdated.
 */
export async function readStates(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<void> {
  await sql.query(
    `update check_statuses s set state = found.state, state_slot = found.slot,
       state_before = found.state_before, since_before = found.since_before,
       since = case when found.state = found.state_before then found.since_before else found.slot end,
       skipped_slot = found.skipped_slot, state_version = 1
     from (
       select t.check_id, t.last_slot, latest.slot, latest.state, earlier.state as state_before,
         case when t.state_before = earlier.state and other.slot is null
           then least(t.since_before, beginning.slot) else beginning.slot end as since_before,
         (select min(m.slot) ${RUNS} and m.slot > t.last_slot) as skipped_slot
       from check_statuses t
         left join lateral (
           select newest.slot, ${stateAt('newest.slot')} as state
           from (select m.slot ${RUNS} and m.slot <= t.last_slot
             order by m.slot desc limit 1) as newest) as latest on true
         left join lateral (
           select newest.slot, ${stateAt('newest.slot')} as state
           from (select m.slot ${RUNS} and m.slot < latest.slot
             order by m.slot desc limit 1) as newest) as earlier on true
         -- The last slot in another state. Few slots are not passed, and these have an index.
         left join lateral (
           (select f.slot ${NOT_PASSED} and f.slot < earlier.slot and earlier.state = 'passing'
            order by f.slot desc limit 1)
           union all
           (select m.slot ${RUNS} and m.slot < earlier.slot and earlier.state <> 'passing'
              and ${stateAt('m.slot')} <> earlier.state
            order by m.slot desc limit 1)) as other on true
         left join lateral (
           select m.slot ${RUNS} and m.slot <= earlier.slot
             and m.slot > coalesce(other.slot, '-infinity')
           order by m.slot limit 1) as beginning on true
       where t.account_id = $1 and t.check_id = any($2::text[]) and t.state_version is null
         and t.last_run_location is not null
       -- A heartbeat has events instead of runs.
       union all
       select t.check_id, t.last_slot, t.last_slot, beat.state, beat.state,
         least(t.last_slot, case when t.has_failures then beat.failing_since
           else coalesce(beat.recovered_at, beat.first_at) end), null
       from check_statuses t
         cross join lateral (
           select case when t.has_failures then 'failing' else 'passing' end as state,
             max(h.failing_since) as failing_since, min(e.at) as first_at,
             max(e.at) filter (where e.state = 'LATE') as recovered_at
           from heartbeats h
             left join heartbeat_events e on e.account_id = h.account_id and e.check_id = h.check_id
           where h.account_id = t.account_id and h.check_id = t.check_id) as beat
       where t.account_id = $1 and t.check_id = any($2::text[]) and t.state_version is null
         and t.last_run_location is null
     ) as found
     where s.account_id = $1 and s.check_id = found.check_id and s.state_version is null
       and s.last_slot = found.last_slot`,
    [accountId, checkIds],
  );
}
