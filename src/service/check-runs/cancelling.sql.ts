import { LONGEST_RUN_MS } from '../../model/check/retry.ts';
import type { Sql } from '../database/store.ts';
import type { LeaseHolder } from './claims.sql.ts';

/** Identifies all attempts of one run, in any location. */
export type RunKey = {
  readonly checkId: string;
  readonly sequenceId: string;
};

/** A run, named by one of its attempts, from the rows of all of them. */
export type CancellableRun = RunKey & {
  readonly id: string;
  /** Whether its first attempt was requested; otherwise it belongs to a slot of the check. */
  readonly isRequested: boolean;
  readonly isCancelled: boolean;
  /** An attempt may begin or is active. */
  readonly isOpen: boolean;
};

/** Row `r` is an attempt of one of the runs ($2, $3) of the account ($1). */
const IS_OF_RUNS = `r.account_id = $1
  and (r.check_id, r.sequence_id) in (select * from unnest($2::text[], $3::text[]))`;

function paramsOf(accountId: string, runs: readonly RunKey[]): readonly unknown[] {
  return [accountId, runs.map(({ checkId }) => checkId), runs.map(({ sequenceId }) => sequenceId)];
}

export function findRunKeys(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly (RunKey & { readonly id: string })[]> {
  return sql.query<RunKey & { readonly id: string }>(
    `select id, check_id, sequence_id from one_off_runs
     where account_id = $1 and id = any($2::text[])`,
    [accountId, ids],
  );
}

/** Locks all attempts of the runs in the order of ids, like `finishRuns`. */
export async function lockAttempts(
  sql: Sql,
  { accountId, runs }: { readonly accountId: string; readonly runs: readonly RunKey[] },
): Promise<void> {
  await sql.query(
    `select r.id from one_off_runs r where ${IS_OF_RUNS} order by r.id for update`,
    paramsOf(accountId, runs),
  );
}

/** Call it after `lockAttempts`, in a separate statement: it sees the changes that `lockAttempts` waited for. */
export function findCancellable(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly CancellableRun[]> {
  return sql.query<CancellableRun>(
    `select asked.id, asked.check_id, asked.sequence_id,
       bool_or(r.reason = 'requested') as is_requested,
       bool_or(r.cancelled_at is not null) as is_cancelled,
       bool_or(r.state in ('waiting', 'assigned')) as is_open
     from one_off_runs asked
       join one_off_runs r on r.account_id = asked.account_id and r.check_id = asked.check_id
         and r.sequence_id = asked.sequence_id
     where asked.account_id = $1 and asked.id = any($2::text[])
     group by asked.id, asked.check_id, asked.sequence_id`,
    [accountId, ids],
  );
}

/**
 * Marks all attempts as cancelled, and wakes the polls of the locations whose agents have one. Closes attempts
 * that no agent has: no agent needs to be notified of these.
 */
export async function markCancelled(
  sql: Sql,
  { accountId, runs }: { readonly accountId: string; readonly runs: readonly RunKey[] },
): Promise<void> {
  await sql.query(
    `with marked as (
       update one_off_runs r set cancelled_at = now(), state = 'expired',
         closed_at = case when r.agent_id is null then coalesce(r.closed_at, now()) else r.closed_at end
       where ${IS_OF_RUNS} and r.cancelled_at is null
       returning r.location_id, r.closed_at
     )
     select pg_notify('vedette_assignments', location_id)::text from marked
     where closed_at is null group by location_id`,
    paramsOf(accountId, runs),
  );
}

/**
 * Whether an agent may still be executing the cancelled run of row `r`: it has neither closed it nor sent its
 * FINAL, and a run may still take that long.
 */
export const IS_TO_BE_CANCELLED = `r.cancelled_at is not null and r.state = 'expired'
  and r.closed_at is null
  and r.not_after > now() - ${LONGEST_RUN_MS} * interval '1 millisecond'`;

/** The ids of such runs that the agent has, also by an earlier lease, oldest first. */
export async function listToBeCancelled(
  sql: Sql,
  { accountId, locationId, agentId, epoch }: LeaseHolder,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `select r.id from one_off_runs r
     where r.account_id = $1 and r.location_id = $2 and r.agent_id = $3
       and r.agent_epoch <= $4::bigint and ${IS_TO_BE_CANCELLED}
     order by r.created_at, r.id limit $5::bigint`,
    [accountId, locationId, agentId, epoch, limit],
  );
  return rows.map(({ id }) => id);
}

/** The cancelled runs of the checks among those with these sequence ids. */
export function findCancelledRuns(
  sql: Sql,
  { accountId, runs }: { readonly accountId: string; readonly runs: readonly RunKey[] },
): Promise<readonly RunKey[]> {
  return sql.query<RunKey>(
    `select distinct r.check_id, r.sequence_id from one_off_runs r
     where ${IS_OF_RUNS} and r.cancelled_at is not null and not r.check_deleted`,
    paramsOf(accountId, runs),
  );
}
