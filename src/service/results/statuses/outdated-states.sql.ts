import type { Sql } from '../../database/store.ts';

/** Arbitrary; no other program on the same database may use it. */
const LOCK_KEY = 7_236_530_131;

/** The ids of checks whose state is outdated, in order, after a given id. */
export async function listOutdatedStates(
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

/** A check whose state is outdated. */
export type OutdatedCheck = { readonly accountId: string; readonly checkId: string };

/** Checks of all accounts whose states are outdated, in order, after a given one. */
export function nextOutdatedChecks(
  sql: Sql,
  { after, limit }: { readonly after: OutdatedCheck; readonly limit: number },
): Promise<readonly OutdatedCheck[]> {
  return sql.query<OutdatedCheck>(
    `select account_id, check_id from check_statuses
     where state_version is null and (account_id, check_id) > ($1, $2)
     order by account_id, check_id limit $3::bigint`,
    [after.accountId, after.checkId, limit],
  );
}

/** @returns false while another replica has the lock, which lasts until the transaction ends */
export async function lockOutdatedStates(tx: Sql): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1) as locked',
    [LOCK_KEY],
  );
  return row?.locked ?? false;
}

/** The rows of a check's runs that judged its target; `t` is its status. */
const RUNS = 'from result_metrics m where m.account_id = t.account_id and m.check_id = t.check_id';

/**
 * Maximum number of runs to read back for the beginning of a state: two weeks with one run per minute, about
 * 0.1 s. If the state began earlier, `since` is the oldest run that was read.
 */
const MAX_RUNS = 20_000;

/** Maximum number of slots whose whole results must be read to find out whether they were degraded. */
const MAX_WIDE_SLOTS = 500;

/**
 * Whether a slot has a degraded run according to its results. Uses only the primary key, since partitions from
 * before an upgrade have no other index: it reads the index of a day, and the results of the slot.
 */
const isDegradedByResults = (slot: string): string => `exists (select from check_results f
  where f.account_id = t.account_id and f.check_id = t.check_id and f.slot = ${slot}
    and f.result_type = 'FINAL' and f.is_degraded and not f.has_failures and not f.has_errors
    and not coalesce((f.body -> 'isCancelled')::boolean, false))`;

/** The state of a slot in which the target was judged: the worst of its runs. */
const stateAt = (slot: string): string => `(select case
    when bool_or(not m.passed) then 'failing'
    -- null: a run of the release before, which did not store it here.
    when coalesce(bool_or(m.degraded), ${isDegradedByResults(slot)}) then 'degraded'
    else 'passing' end
  ${RUNS} and m.slot = ${slot})`;

/** The latest slot, with its state. */
const LATEST = `select newest.slot, ${stateAt('newest.slot')} as state
  from (select m.slot ${RUNS} and m.slot <= t.last_slot order by m.slot desc limit 1) as newest`;

/** The slots before `earlier`, the latest first; `fields` are aggregates of the runs of a slot. */
const slotsBefore = (columns: string, fields: string): string => `(
  select run.slot, ${fields}
  from (select m.slot, ${columns} ${RUNS} and m.slot < earlier.slot
    order by m.slot desc limit ${MAX_RUNS}) as run
  group by run.slot)`;

/**
 * Recomputes outdated states from the results of the checks, and those of heartbeats from their events. The
 * caller has locked the checks with `lockSubjects`. Reads only results within the retention and the latest
 * MAX_RUNS; a state that began earlier keeps its beginning. Passed runs that the previous release stored count
 * as passing, as in analytics, although they may be degraded. A heartbeat that is pinged in the meantime stays
 * outdated.
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
         left join lateral (${LATEST}) as latest on true
         left join lateral (
           select newest.slot, ${stateAt('newest.slot')} as state
           from (select m.slot ${RUNS} and m.slot < latest.slot
             order by m.slot desc limit 1) as newest) as earlier on true
         -- The last slot in another state. That of a failing stretch needs only the index.
         left join lateral (
           (select s.slot from ${slotsBefore('m.passed', 'bool_or(not run.passed) as failing')} as s
            where earlier.state = 'failing' and not s.failing
            order by s.slot desc limit 1)
           union all
           (select s.slot from ${slotsBefore(
             'not m.passed or coalesce(m.degraded, false) as other',
             'bool_or(run.other) as other',
           )} as s
            where earlier.state = 'passing' and s.other
            order by s.slot desc limit 1)
           union all
           (select s.slot
            from (select g.*, count(*) filter (where g.degraded is null)
                over (order by g.slot desc rows unbounded preceding) as wide_slots
              from ${slotsBefore(
                'm.passed, m.degraded',
                'bool_or(not run.passed) as failing, bool_or(run.degraded) as degraded',
              )} as g
              where earlier.state = 'degraded') as s
            where s.failing or not s.degraded or s.degraded is null
              and (s.wide_slots > ${MAX_WIDE_SLOTS} or not ${isDegradedByResults('s.slot')})
            order by s.slot desc limit 1)) as other on true
         left join lateral (
           select m.slot
           from (select m.slot ${RUNS} and m.slot <= earlier.slot
               and m.slot > coalesce(other.slot, '-infinity')
             order by m.slot desc limit ${MAX_RUNS}) as m
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

/**
 * Reads only the current states of outdated checks, from the latest slot of each. The checks stay outdated, and
 * it stays unknown since when they are in their states. The caller has locked the checks with `lockSubjects`.
 */
export async function readLatestStates(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<void> {
  await sql.query(
    `update check_statuses s set state = found.state,
       since = case when s.state = found.state then s.since end
     from (select t.check_id, t.last_slot, latest.state
       from check_statuses t cross join lateral (${LATEST}) as latest
       where t.account_id = $1 and t.check_id = any($2::text[]) and t.last_run_location is not null
     ) as found
     where s.account_id = $1 and s.check_id = found.check_id and s.state_version is null
       and s.last_slot = found.last_slot`,
    [accountId, checkIds],
  );
}
