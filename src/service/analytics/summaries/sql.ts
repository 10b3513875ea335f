import type { RunnableCheckType } from '../../../model/enums.ts';
import type { Measure } from '../../../model/result/analytics.ts';
import { CHECKS_WITH_STATUS, type CheckFilter, checksMatching } from '../../checks/shared.sql.ts';
import type { ListRange } from '../../database/lists/list-walk.ts';
import { readList } from '../../database/lists/lists.ts';
import type { Sql } from '../../database/store.ts';
import type { RollUpSegment } from '../rollups/plan-segments.ts';
import { rolledRunsSql } from '../rollups/rolled-runs.sql.ts';
import { MEASURE_COLUMNS } from '../run-metrics.sql.ts';

export type ReportedCheck = {
  readonly checkId: string;
  readonly name: string;
  readonly checkType: RunnableCheckType;
  readonly activated: boolean;
  readonly muted: boolean;
  readonly tags: readonly string[];
  readonly groupId: number | null;
};

/** The checks that match, by name. The filter has only types with runs. */
export function listReportedChecks(
  sql: Sql,
  { range, ...filter }: CheckFilter & { readonly range: ListRange },
): Promise<readonly ReportedCheck[]> {
  const { condition, params } = checksMatching(filter);
  const list = {
    columns: 'c.id as check_id, c.name, c.check_type, c.activated, c.muted, c.tags, c.group_id',
    from: CHECKS_WITH_STATUS,
    where: condition,
    params,
    order: 'lower(c.name), c.id',
    id: { sql: 'c.id', type: 'text' } as const,
    position: 'c.list_position',
  };
  return readList<ReportedCheck>(sql, list, range);
}

/** Statistics over the runs that have the measure. */
export interface Spread {
  readonly avg: number;
  readonly min: number;
  readonly max: number;
}

export interface RunsOfCheck {
  readonly runs: number;
  /** Degraded ones included. */
  readonly passed: number;
  readonly degraded: number;
  /** Measures that no run has are missing. */
  readonly measures: ReadonlyMap<Measure, Spread>;
}

/** `connection` and `tcp` have the same column. */
const MEASURES = Object.keys(MEASURE_COLUMNS) as readonly Measure[];
const COLUMNS = [...new Set(Object.values(MEASURE_COLUMNS))];

type SumsRow = Readonly<Record<`${keyof Spread}${number}`, number | null>> & {
  readonly checkId: string;
  readonly runs: number;
  readonly passed: number;
  readonly degraded: number;
};

/** Sums up the runs of each check in the segments. Omits checks without runs. */
export async function sumUpRuns(
  sql: Sql,
  {
    accountId,
    segments,
  }: { readonly accountId: string; readonly segments: readonly RollUpSegment[] },
): Promise<ReadonlyMap<string, RunsOfCheck>> {
  const params: unknown[] = [accountId];
  const runs = rolledRunsSql(segments, COLUMNS, (value) => `$${params.push(value)}`);
  const spreads = COLUMNS.map(
    (name, at) => `, sum(${name}_sum)::float8 / nullif(sum(${name}_count), 0) as avg${at},
      min(${name}_min) as min${at}, max(${name}_max) as max${at}`,
  );
  const rows = await sql.query<SumsRow>(
    `select check_id, sum(runs)::float8 as runs,
       coalesce(sum(runs) filter (where passed), 0)::float8 as passed,
       sum(degraded)::float8 as degraded ${spreads.join('')}
     from (${runs}) as rolled
     group by check_id`,
    params,
  );
  return new Map(
    rows.map((row) => {
      const { checkId, runs, passed, degraded } = row;
      return [checkId, { runs, passed, degraded, measures: measuresOf(row) }];
    }),
  );
}

function measuresOf(row: SumsRow): ReadonlyMap<Measure, Spread> {
  return new Map(
    MEASURES.flatMap((measure): [Measure, Spread][] => {
      const at = COLUMNS.indexOf(MEASURE_COLUMNS[measure]);
      const [avg, min, max] = [row[`avg${at}`], row[`min${at}`], row[`max${at}`]];
      if (avg == null || min == null || max == null) return [];
      return [[measure, { avg, min, max }]];
    }),
  );
}
