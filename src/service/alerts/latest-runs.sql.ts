import type { Sql } from '../database/store.ts';

/** A FINAL result that judges its check. */
export interface LatestRun {
  readonly checkId: string;
  readonly runLocation: string;
  readonly sequenceId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly hasFailures: boolean;
  readonly isDegraded: boolean;
}

type LatestRow = Omit<LatestRun, 'slotMs'> & { readonly slot: Date };

/** An agent may set back its clock and date a result before its slot. */
const CLOCK_SET_BACK = `interval '2 minutes'`;

/**
 * The newest FINAL with a retry and the newest without one, of each location of the checks, from
 * the given slot on. Leaves out cancelled runs and faults of the agent, which judge nothing, and the
 * results in `except`.
 *
 * @param scanned how many of the newest results of a check it reads
 */
export async function findLatestRuns(
  sql: Sql,
  {
    accountId,
    since,
    except,
    scanned,
  }: {
    readonly accountId: string;
    readonly since: readonly { readonly checkId: string; readonly slotMs: number }[];
    /** Ids of results. */
    readonly except: readonly string[];
    readonly scanned: number;
  },
): Promise<readonly LatestRun[]> {
  if (since.length === 0) return [];
  // The limit makes the planner read the start of the index by created_at; the bound of the slot
  // skips the partitions of older days.
  const rows = await sql.query<LatestRow>(
    `select latest.*
     from unnest($2::text[], $3::timestamptz[]) as given (check_id, slot)
       cross join lateral (
         select distinct on (run_location, attempts > 0)
           check_id, run_location, sequence_id, slot, has_failures,
           coalesce(is_degraded, false) as is_degraded
         from (
           select * from check_results r
           where r.account_id = $1 and r.check_id = given.check_id
             and r.created_at >= given.slot - ${CLOCK_SET_BACK}
             and r.slot >= given.slot and r.slot >= $5::timestamptz
             and r.result_type = 'FINAL' and not r.has_errors
             and r.id <> all($4::text[])
             and coalesce((r.body -> 'isCancelled')::boolean, false) is false
           order by r.created_at desc limit $6::bigint) as newest
         order by run_location, attempts > 0, slot desc) as latest`,
    [
      accountId,
      since.map(({ checkId }) => checkId),
      since.map(({ slotMs }) => new Date(slotMs)),
      except,
      new Date(Math.min(...since.map(({ slotMs }) => slotMs))),
      scanned,
    ],
  );
  return rows.map(({ slot, ...run }) => ({ ...run, slotMs: slot.getTime() }));
}
