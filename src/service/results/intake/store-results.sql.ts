import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';

/** The key of a stored result. */
export type ResultKey = Pick<ReceivedResult, 'checkId' | 'id' | 'checkRunId' | 'resultType'>;

const COLUMNS = `check_id, id, sequence_id, result_type, slot, started_at, stopped_at, created_at,
  response_time, has_failures, has_errors, is_degraded, over_max, run_location, attempts,
  check_type, body`;

/** The values of COLUMNS from a result in JSON. One JSON text for all results is much faster than one for each. */
const VALUES = `r ->> 'checkId', r ->> 'id', r ->> 'sequenceId', r ->> 'resultType',
  to_timestamp((r -> 'checkRunId')::float8 / 1000), (r ->> 'startedAt')::timestamptz,
  (r ->> 'stoppedAt')::timestamptz, (r ->> 'created_at')::timestamptz,
  (r -> 'responseTime')::float8, (r -> 'hasFailures')::boolean, (r -> 'hasErrors')::boolean,
  (r -> 'isDegraded')::boolean, (r -> 'overMaxResponseTime')::boolean, r ->> 'runLocation',
  (r -> 'attempts')::integer, r ->> 'checkType', r`;

/** The key columns of a result `s`. */
const KEY = `s.check_id, s.id, (extract(epoch from s.slot) * 1000)::bigint as check_run_id,
  s.result_type`;

interface ResultsOf {
  readonly accountId: string;
  readonly results: readonly ReceivedResult[];
}

/**
 * Stores results, except those whose id is stored already and FINALs of runs that have a FINAL. The
 * database can store their texts: the wire's schema makes sure of that.
 *
 * @returns those that were inserted
 */
export function insertResults(
  sql: Sql,
  { accountId, results }: ResultsOf,
): Promise<readonly ResultKey[]> {
  return sql.query<ResultKey>(
    `insert into check_results as s (account_id, ${COLUMNS})
     select $1, ${VALUES} from jsonb_array_elements($2::jsonb) r
     on conflict do nothing
     returning ${KEY}`,
    [accountId, jsonText(results)],
  );
}

/**
 * Replaces ATTEMPTs by FINALs of the same id, if the run has no FINAL: two agents made the same attempt, and for
 * one of them it was the last. A cursor that has passed the ATTEMPT returns the FINAL.
 *
 * @param results at most one of each run
 * @returns those that were replaced
 */
export function raiseToFinal(
  sql: Sql,
  { accountId, results }: ResultsOf,
): Promise<readonly ResultKey[]> {
  return sql.query<ResultKey>(
    `update check_results s set (${COLUMNS}, list_position) = row (${VALUES}, next_list_position())
     from jsonb_array_elements($2::jsonb) r
     where s.account_id = $1 and s.check_id = r ->> 'checkId' and s.id = r ->> 'id'
       and s.slot = to_timestamp((r -> 'checkRunId')::float8 / 1000)
       and s.result_type = 'ATTEMPT'
       and not exists (select from check_results f
         where f.account_id = $1 and f.check_id = s.check_id and f.sequence_id = s.sequence_id
           and f.slot = s.slot and f.result_type = 'FINAL')
     returning ${KEY}`,
    [accountId, jsonText(results)],
  );
}
