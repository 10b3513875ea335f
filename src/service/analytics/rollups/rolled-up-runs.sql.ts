import { DAY_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import {
  type Mark,
  type RollUpSegment,
  type RollUpSpan,
  type RollUpState,
  SPANS,
} from './plan-segments.ts';

/** Adds a parameter and returns its placeholder. */
export type AddParam = (value: unknown) => string;

/** The state of the roll-ups in a window. */
export async function readRollUpState(
  sql: Sql,
  {
    accountId,
    checkIds,
    fromMs,
    toMs,
  }: {
    readonly accountId: string;
    readonly checkIds: readonly string[];
    readonly fromMs: number;
    readonly toMs: number;
  },
): Promise<RollUpState> {
  const [state] = await sql.query<{ resultsFrom: Date | null; days: readonly Date[] }>(
    `select (select results_from from rollup_state) as results_from,
       array(select day from rollup_backfill) as days`,
  );
  const marks = await sql.query<{ checkId: string; span: RollUpSpan; start: Date }>(
    `select check_id, span, start from rollup_marks
     where account_id = $1 and check_id = any($2::text[]) and kind = 'runs'
       and start >= $3::timestamptz and start < $4::timestamptz`,
    [accountId, checkIds, new Date(fromMs - DAY_MS), new Date(toMs)],
  );
  return {
    marks: marks.map(({ checkId, span, start }): Mark => ({ checkId, span, startMs: +start })),
    backfillDaysMs: new Set(state?.days.map((day) => +day)),
    resultsFromMs: Number(state?.resultsFrom ?? 0),
  };
}

/**
 * Runs a statement that groups the content of segments, in a transaction. The planner expects one row for each segment
 * and partition, and would therefore sort the rows, of which there are far more, on disk.
 */
export async function groupByHash<T>(tx: Sql, statement: () => Promise<T>): Promise<T> {
  await tx.query('set local enable_sort = off');
  const result = await statement();
  await tx.query('set local enable_sort to default');
  return result;
}

/**
 * A select of the content of the segments. A row stands for one or several runs and has check_id, slot,
 * run_location, status_code, passed, runs, degraded, retries and, for each column of measures, `…_count`,
 * `…_sum`, `…_min` and `…_max`. The account is $1.
 *
 * @param columns of result_metrics
 */
export function rolledUpRunsSql(
  segments: readonly RollUpSegment[],
  columns: readonly string[],
  param: AddParam,
): string {
  const common = 'run_location, passed';
  const rolled = SPANS.map((span) => {
    const measures = columns.map(
      (name) => `, ${name}_count, ${name}_sum, ${name}_min, ${name}_max`,
    );
    return segmentsSql(
      segments.filter((segment) => segment.span === span),
      `select start as slot, ${common}, nullif(status_code, 0) as status_code, runs, degraded,
         retries ${measures.join('')}
       from result_rollups r where r.span = ${span}`,
      'start',
      param,
    );
  });
  const measures = columns.map(
    (name) => `, case when ${name} is null then 0 else 1 end as ${name}_count,
      ${name}::numeric as ${name}_sum, ${name} as ${name}_min, ${name} as ${name}_max`,
  );
  const raw = segmentsSql(
    segments.filter(({ span }) => span === 0),
    `select slot, ${common}, status_code, 1 as runs,
       case when degraded then 1 else 0 end as degraded, retries::integer as retries
       ${measures.join('')}
     from result_metrics r where true`,
    'slot',
    param,
  );
  const parts = [...rolled, raw].filter((part) => part !== null);
  if (parts.length > 0) return parts.join(' union all ');
  // A select without rows whose columns have the right types.
  const end = new Date(0);
  return rolledUpRunsSql([{ checkId: '', span: 1440, fromMs: +end, toMs: +end }], columns, param);
}

/** Scans an index once for each segment: a join might read all rows of the check. */
function segmentsSql(
  segments: readonly RollUpSegment[],
  select: string,
  time: 'start' | 'slot',
  param: AddParam,
): string | null {
  if (segments.length === 0) return null;
  const { checkIds, froms, tos, fromMs, toMs } = columnsOf(segments);
  return `select s.check_id, part.*
     from unnest(${param(checkIds)}::text[], ${param(froms)}::timestamptz[],
       ${param(tos)}::timestamptz[]) as s (check_id, from_at, to_at)
     cross join lateral (
       ${select} and r.account_id = $1 and r.check_id = s.check_id
         and r.${time} >= s.from_at and r.${time} < s.to_at
         and r.${time} >= ${param(new Date(fromMs))}::timestamptz
         and r.${time} < ${param(new Date(toMs))}::timestamptz
       offset 0
     ) part`;
}

/** Parameters for the segments, and their common bounds: the planner skips partitions outside of them. */
function columnsOf(segments: readonly RollUpSegment[]): {
  readonly checkIds: readonly string[];
  readonly froms: readonly Date[];
  readonly tos: readonly Date[];
  readonly fromMs: number;
  readonly toMs: number;
} {
  return {
    checkIds: segments.map(({ checkId }) => checkId),
    froms: segments.map(({ fromMs }) => new Date(fromMs)),
    tos: segments.map(({ toMs }) => new Date(toMs)),
    fromMs: segments.reduce(
      (least, { fromMs }) => Math.min(least, fromMs),
      Number.MAX_SAFE_INTEGER,
    ),
    toMs: segments.reduce((most, { toMs }) => Math.max(most, toMs), 0),
  };
}

/** Whether the segments contain more than `maxRuns` runs that are not read from roll-ups. */
export async function hasMoreSingleRuns(
  sql: Sql,
  {
    accountId,
    segments,
  }: { readonly accountId: string; readonly segments: readonly RollUpSegment[] },
  runs: number,
): Promise<boolean> {
  const params: unknown[] = [accountId];
  const select = segmentsSql(
    segments.filter(({ span }) => span === 0),
    'select from result_metrics r where true',
    'slot',
    (value) => `$${params.push(value)}`,
  );
  if (select === null) return false;
  params.push(runs);
  const rows = await sql.query(`${select} offset $${params.length}::bigint limit 1`, params);
  return rows.length > 0;
}
