import type { CheckResult } from '../../../model/result/result.ts';
import type { RunResult } from '../../../model/result/run-result.ts';
import { type List, readList } from '../../database/lists/lists.ts';
import type { AccountRange } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';

/** Parts of the details that may be long and that summaries do not need. */
const LONG_PARTS = [
  'apiCheckResult',
  'tcpCheckResult',
  'dnsCheckResult',
  'icmpCheckResult',
].flatMap((detail) =>
  ['jobLog', 'traceroute', 'request', 'response,body', 'response,headers', 'response,tls'].map(
    (part) => `'{${detail},${part}}'`,
  ),
);
const BRIEF = `(body ${[
  ...LONG_PARTS,
  `'{dnsCheckResult,response,answer}'`,
  `'{dnsCheckResult,response,text}'`,
  `'{icmpCheckResult,response,pingResults}'`,
]
  .map((path) => `#- ${path}`)
  .join(' ')})::text`;

/** `runResultOf` (src/model/result/run-result.ts) in SQL. */
export const RUN_RESULT = `case when (body -> 'isCancelled')::boolean then 'cancelled'
  when has_errors then 'error' when has_failures then 'failed'
  when is_degraded then 'degraded' else 'passed' end`;

/** Results without LONG_PARTS. */
export type BriefResult = CheckResult;

export interface RunFilter extends AccountRange {
  readonly checkId: string;
  /** Epoch milliseconds of `created_at`: `toMs` is excluded. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly location: string | null;
  /** null for all. */
  readonly results: readonly RunResult[] | null;
}

/** The FINALs, newest first. */
export async function listFinals(sql: Sql, filter: RunFilter): Promise<readonly BriefResult[]> {
  const { accountId, checkId, fromMs, toMs, location, results } = filter;
  const list: List = {
    columns: `${BRIEF} as body, created_at, slot, id`,
    from: 'check_results',
    where: `account_id = $1 and check_id = $2 and created_at >= $3::timestamptz
       and created_at < $4::timestamptz`,
    filter: `result_type = 'FINAL' and ($5::text is null or run_location = $5)
       and ($6::text[] is null or ${RUN_RESULT} = any($6::text[]))`,
    params: [accountId, checkId, new Date(fromMs), new Date(toMs), location, results],
    order: 'created_at desc, slot desc, id',
  };
  return (await readList<{ body: string }>(sql, list, filter)).map(resultIn);
}

/** An attempt of a run, by its id and the slot of the run in epoch milliseconds. */
export interface AttemptKey {
  readonly id: string;
  readonly slotMs: number;
}

/** Returns the attempts among these that are stored, including FINALs, in any order. */
export async function findAttempts(
  sql: Sql,
  {
    accountId,
    checkId,
    attempts,
  }: {
    readonly accountId: string;
    readonly checkId: string;
    readonly attempts: readonly AttemptKey[];
  },
): Promise<readonly BriefResult[]> {
  if (attempts.length === 0) return [];
  // The lateral subquery with its offset forces an index lookup for each attempt.
  const rows = await sql.query<{ body: string }>(
    `select found.body from unnest($3::text[], $4::timestamptz[]) as given (id, slot)
       cross join lateral (select ${BRIEF} as body from check_results
         where account_id = $1 and check_id = $2 and id = given.id and slot = given.slot
         offset 0) as found`,
    [
      accountId,
      checkId,
      attempts.map(({ id }) => id),
      attempts.map(({ slotMs }) => new Date(slotMs)),
    ],
  );
  return rows.map(resultIn);
}

/** The last run that passed, and was not degraded, before a time; null if none is stored. */
export async function findLastPassingResult(
  sql: Sql,
  {
    accountId,
    checkId,
    before,
  }: { readonly accountId: string; readonly checkId: string; readonly before: Date },
): Promise<BriefResult | null> {
  const [row] = await sql.query<{ body: string }>(
    `select ${BRIEF} as body from check_results
     where account_id = $1 and check_id = $2 and created_at < $3::timestamptz
       and result_type = 'FINAL' and not has_failures and not has_errors
       and is_degraded is not true and not (body -> 'isCancelled')::boolean
     order by created_at desc limit 1`,
    [accountId, checkId, before],
  );
  return row === undefined ? null : resultIn(row);
}

function resultIn({ body }: { readonly body: string }): BriefResult {
  return JSON.parse(body) as BriefResult;
}
