import type { Sql } from '../database/port.ts';

/** A FINAL that judged its check. */
export interface LatestRun {
  readonly checkId: string;
  readonly runLocation: string;
  readonly sequenceId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly hasFailures: boolean;
  readonly isDegraded: boolean;
}

type LatestRow = {
  readonly checkId: string;
  readonly runLocation: string;
  readonly sequenceId: string;
  readonly slot: Date;
  readonly hasFailures: boolean;
  readonly isDegraded: boolean | null;
};

/** An agent's clock that was set back may have stamped a result before its slot. */
const CLOCK_SET_BACK = `interval '2 minutes'`;

/**
 * The newest FINALs of each location of the checks, as far as they are of the given slot or later:
 * of those with a retry and of those without one each. Cancelled runs and own faults judge nothing
 * and are left out, and so are the results named.
 *
 * @param lookAt how many of a check's newest are looked at
 */
export async function findLatestRuns(
  sql: Sql,
  {
    accountId,
    since,
    except,
    lookAt,
  }: {
    readonly accountId: string;
    readonly since: readonly { readonly checkId: string; readonly slotMs: number }[];
    /** Ids. */
    readonly except: readonly string[];
    readonly lookAt: number;
  },
): Promise<readonly LatestRun[]> {
  if (since.length === 0) return [];
  // The limit makes the planner take the index by created_at, of which it needs the first entries;
  // the bound by the slot alone spares the partitions of older days.
  const rows = await sql.query<LatestRow>(
    `select latest.*
     from unnest($2::text[], $3::timestamptz[]) as given (check_id, slot)
       cross join lateral (
         select distinct on (run_location, attempts > 0)
           check_id, run_location, sequence_id, slot, has_failures, is_degraded
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
      lookAt,
    ],
  );
  return rows.map((row) => ({
    checkId: row.checkId,
    runLocation: row.runLocation,
    sequenceId: row.sequenceId,
    slotMs: row.slot.getTime(),
    hasFailures: row.hasFailures,
    isDegraded: row.isDegraded ?? false,
  }));
}
