import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGGREGATIONS,
  type Aggregation,
  ANALYTICS_METRICS,
} from '../../../../src/model/result/analytics.ts';
import {
  insertRunMetrics,
  type RunMetrics,
} from '../../../../src/service/analytics/run-metrics.sql.ts';
import { readSeries } from '../../../../src/service/analytics/sql.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { databases, openMigratedStore } from '../../../support/database/databases.ts';
import { caseCount } from '../../../support/nightly.ts';

const DAY_MS = 86_400_000;
/** A Thursday. */
const FROM_MS = Date.UTC(2026, 0, 1);
const DAYS = 4;
const NOW_MS = FROM_MS + DAYS * DAY_MS;
/** No limit of runs. */
const LIMITS = { nowMs: NOW_MS, maxRuns: null };

/** The definition of each aggregate, without code of the service. */
const NAIVE: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  avg: (values) => sum(values) / values.length,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum,
  stddev: (values) => {
    const mean = sum(values) / values.length;
    return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length);
  },
  median: (values) => percentile(values, 0.5),
  p50: (values) => percentile(values, 0.5),
  p90: (values) => percentile(values, 0.9),
  p95: (values) => percentile(values, 0.95),
  p99: (values) => percentile(values, 0.99),
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Interpolates linearly between the two nearest values. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = share * (sorted.length - 1);
  const [below = 0, above = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

const NUMBER = fc.oneof(
  fc.integer({ min: 0, max: 30_000_000 }).map((micros) => micros / 1000),
  fc.constantFrom(0, 1, 1, 2.5),
);
const RUN = fc.record({
  slotMs: fc.integer({ min: FROM_MS, max: FROM_MS + DAYS * DAY_MS - 1 }),
  runLocation: fc.constantFrom('berlin', 'oslo', 'Zürich'),
  passed: fc.boolean(),
  degraded: fc.boolean(),
  statusCode: fc.constantFrom(200, 404, 503, null),
  retries: fc.integer({ min: 0, max: 10 }),
  responseTime: NUMBER,
  dns: fc.option(NUMBER),
});
const QUERY = fc.record({
  fromMs: fc.integer({ min: FROM_MS - DAY_MS, max: FROM_MS + 2 * DAY_MS }),
  spanMs: fc.oneof(fc.constant(DAYS * DAY_MS), fc.integer({ min: 0, max: 3 * DAY_MS })),
  passed: fc.constantFrom(null, null, true, false),
  groupBy: fc.constantFrom(null, 'runLocation' as const, 'statusCode' as const),
  minutes: fc.constantFrom(null, 1, 7, 60, 1440, 2880, 10_080, 43_200),
});

/** Compares every aggregate of random runs with a naive computation. */
describe.each(databases)('on %s', (kind) => {
  describe('aggregates', () => {
    let store: Store;
    let checks = 0;
    beforeAll(async () => {
      store = await openMigratedStore(kind);
      await store.query("select make_result_partitions('2026-01-01', '2026-01-05')");
    });
    afterAll(async () => {
      await store.close();
    });

    const measures = ['responseTime', 'dns'] as const;
    const names = ['availability', 'retries', ...measures].concat(
      measures.flatMap((of) => Object.keys(AGGREGATIONS).map((suffix) => `${of}_${suffix}`)),
    );
    const metrics = names.flatMap((name) => ANALYTICS_METRICS.API.get(name) ?? []);

    it('have the values of their definitions', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(RUN, { maxLength: 80 }), QUERY, async (runs, query) => {
          checks += 1;
          const checkId = `check-${checks}`;
          const rows = runs.map(
            ({ responseTime, dns, ...run }, number): RunMetrics => ({
              ...run,
              checkId,
              sequenceId: `run-${number}`,
              measures: { responseTime, dns },
            }),
          );
          const key = { accountId: 'mine', checkId };
          await insertRunMetrics(store, { ...key, runs: rows });
          // Nothing is there twice or in the series of another check.
          await insertRunMetrics(store, { ...key, runs: rows });
          await insertRunMetrics(store, { accountId: 'theirs', runs: rows });
          const { fromMs, spanMs, passed, groupBy, minutes } = query;
          const toMs = fromMs + spanMs;
          const found = await readSeries(
            store,
            {
              ...key,
              fromMs,
              toMs,
              passed,
              groupBy,
              point: minutes === null ? 'window' : { minutes },
              metrics,
              limit: 100,
              offset: 0,
              maxPoints: 1000,
            },
            LIMITS,
          );
          if (typeof found === 'string') throw new Error(found);
          const wanted = naivePoints(rows, { ...query, toMs });
          expect(found.map(({ group, time }) => [group, time.getTime()])).toEqual(
            wanted.map(({ group, timeMs }) => [group, timeMs]),
          );
          for (const [index, { values }] of found.entries()) {
            const inside = wanted[index]?.runs ?? [];
            for (const [at, name] of names.entries()) {
              const value = naiveValue(name, inside);
              const near = value === null ? null : expect.closeTo(value, 6);
              expect([name, values[at]]).toEqual([name, near]);
            }
          }
        }),
        { numRuns: caseCount(60) },
      );
    });
  });
});

interface NaivePoint {
  readonly group: string | number | null;
  readonly timeMs: number;
  readonly runs: RunMetrics[];
}

function naivePoints(
  runs: readonly RunMetrics[],
  {
    fromMs,
    toMs,
    passed,
    groupBy,
    minutes,
  }: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly passed: boolean | null;
    readonly groupBy: 'runLocation' | 'statusCode' | null;
    readonly minutes: number | null;
  },
): readonly NaivePoint[] {
  const points = new Map<string, NaivePoint>();
  for (const run of runs) {
    if (run.slotMs < fromMs || run.slotMs >= toMs) continue;
    if (passed !== null && run.passed !== passed) continue;
    const group = groupBy === null ? null : run[groupBy];
    const mondayMs = Date.UTC(2025, 11, 29);
    const spanMs = (minutes ?? 0) * 60_000;
    // The intervals from 1970-01-05 on.
    const sinceMs = mondayMs - Date.UTC(1970, 0, 5) + (run.slotMs - mondayMs);
    const timeMs = minutes === null ? fromMs : run.slotMs - (sinceMs % spanMs);
    const key = JSON.stringify([group, timeMs]);
    const point = points.get(key) ?? { group, timeMs, runs: [] };
    point.runs.push(run);
    points.set(key, point);
  }
  return [...points.values()].toSorted(
    (one, other) => byGroup(one.group, other.group) || one.timeMs - other.timeMs,
  );
}

function byGroup(one: string | number | null, other: string | number | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}

function naiveValue(name: string, runs: readonly RunMetrics[]): number | null {
  if (name === 'availability') {
    return (100 * runs.filter(({ passed }) => passed).length) / runs.length;
  }
  if (name === 'retries') return sum(runs.map(({ retries }) => retries));
  const [measure, suffix = 'avg'] = name.split('_') as ['responseTime' | 'dns', Aggregation?];
  const values = runs.flatMap(({ measures }) => measures[measure] ?? []);
  return values.length === 0 ? null : NAIVE[suffix](values);
}
