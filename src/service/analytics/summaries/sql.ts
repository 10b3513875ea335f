import type { RunnableCheckType } from '../../../model/enums.ts';
import type { Measure } from '../../../model/result/analytics.ts';
import { CHECKS_WITH_STATUS, type CheckFilter, checksMatching } from '../../checks/shared.sql.ts';
import type { ListRange } from '../../database/lists/list-walk.ts';
import { readList } from '../../database/lists/lists.ts';
import type { Sql } from '../../database/store.ts';
import type { RollUpSegment } from '../rollups/plan-segments.ts';
import { groupByHash, rolledUpRunsSql } from '../rollups/rolled-up-runs.sql.ts';
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

/** Aggregates of a measure over the runs that have it, from roll-ups of its column. */
const AGGREGATES = {
  avg: (column: string) => `sum(${column}_sum)::float8 / nullif(sum(${column}_count), 0)`,
  min: (column: string) => `min(${column}_min)`,
  max: (column: string) => `max(${column}_max)`,
} as const;
type Aggregate = keyof typeof AGGREGATES;

export type Statistic = `${Measure}_${Aggregate}`;

export interface RunsOfCheck {
  readonly runs: number;
  /** Degraded ones included. */
  readonly passed: number;
  readonly degraded: number;
  /** Statistics of measures that no run has are missing. */
  readonly statistics: ReadonlyMap<Statistic, number>;
}

type SumsRow = Readonly<Record<`value${number}`, number | null>> & {
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
    statistics,
  }: {
    readonly accountId: string;
    readonly segments: readonly RollUpSegment[];
    /** Each of them takes time for every row. */
    readonly statistics: readonly Statistic[];
  },
): Promise<ReadonlyMap<string, RunsOfCheck>> {
  const params: unknown[] = [accountId];
  const parts = statistics.map((statistic) => {
    const [measure, aggregate] = statistic.split('_') as [Measure, Aggregate];
    return { column: MEASURE_COLUMNS[measure], aggregate };
  });
  const columns = [...new Set(parts.map(({ column }) => column))];
  const runs = rolledUpRunsSql(segments, columns, (value) => `$${params.push(value)}`);
  const values = parts.map(
    ({ column, aggregate }, at) => `, ${AGGREGATES[aggregate](column)} as value${at}`,
  );
  const text = `select check_id, sum(runs)::float8 as runs,
       coalesce(sum(runs) filter (where passed), 0)::float8 as passed,
       sum(degraded)::float8 as degraded ${values.join('')}
     from (${runs}) as rolled
     group by check_id`;
  const rows = await groupByHash(sql, () => sql.query<SumsRow>(text, params));
  return new Map(
    rows.map((row) => {
      const { checkId, runs, passed, degraded } = row;
      return [checkId, { runs, passed, degraded, statistics: statisticsOf(row, statistics) }];
    }),
  );
}

function statisticsOf(
  row: SumsRow,
  statistics: readonly Statistic[],
): ReadonlyMap<Statistic, number> {
  return new Map(
    statistics.flatMap((statistic, at): [Statistic, number][] => {
      const value = row[`value${at}`] ?? null;
      return value === null ? [] : [[statistic, value]];
    }),
  );
}
