import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANALYTICS_METRICS } from '../../../../../src/model/result/analytics.ts';
import { createRollUps } from '../../../../../src/service/analytics/rollups/roll-up.ts';
import {
  insertRunMetrics,
  type RunMetrics,
} from '../../../../../src/service/analytics/run-metrics.sql.ts';
import { readSeries } from '../../../../../src/service/analytics/sql.ts';
import type { Store } from '../../../../../src/service/database/store.ts';
import { databases, openMigratedStore, silentLog } from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { caseCount } from '../../../../support/nightly.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FROM_MS = Date.UTC(2026, 0, 1);
const DAYS = 4;
/** No limit of runs. */
const MANY = { maxRuns: null };

const NUMBER = fc.oneof(
  fc.integer({ min: 0, max: 30_000_000 }).map((micros) => micros / 1000),
  fc.double({ min: 0, max: 30_000, noNaN: true }),
);
const RUN = fc.record({
  slotMs: fc.integer({ min: 0, max: DAYS * 24 * 12 - 1 }).map((n) => FROM_MS + n * 300_000),
  runLocation: fc.constantFrom('berlin', 'oslo', 'Zürich'),
  passed: fc.boolean(),
  degraded: fc.boolean(),
  statusCode: fc.constantFrom(200, 404, 503, null),
  retries: fc.integer({ min: 0, max: 10 }),
  responseTime: NUMBER,
  dns: fc.option(NUMBER),
});
const QUERY = fc.record({
  fromMs: fc.oneof(
    fc.constant(FROM_MS),
    fc.integer({ min: FROM_MS - DAY_MS, max: FROM_MS + 2 * DAY_MS }),
  ),
  spanMs: fc.oneof(fc.constant(DAYS * DAY_MS), fc.integer({ min: 0, max: 4 * DAY_MS })),
  passed: fc.constantFrom(null, null, true, false),
  groupBy: fc.constantFrom(null, 'runLocation' as const, 'statusCode' as const),
  minutes: fc.constantFrom(null, 15, 45, 60, 120, 1440, 2880, 10_080, 43_200),
});
const CASE = fc.record({
  early: fc.array(RUN, { maxLength: 80 }),
  late: fc.array(RUN, { maxLength: 20 }),
  query: QUERY,
  /** The time of the query, while runs still arrive. */
  nowMs: fc.integer({ min: FROM_MS + HOUR_MS, max: FROM_MS + 12 * DAY_MS }),
});

/** Reports of random runs, before and after these are rolled up. */
describe.each(databases)('on %s', (kind) => {
  describe('roll-ups', () => {
    let store: Store;
    let checks = 0;
    beforeAll(async () => {
      store = await openMigratedStore(kind);
      await store.query("select make_result_partitions('2026-01-01', '2026-01-05')");
    });
    afterAll(async () => {
      await store.close();
    });

    const metrics = ['availability', 'retries', 'responseTime', 'dns']
      .concat(
        ['responseTime', 'dns'].flatMap((of) =>
          ['avg', 'max', 'min', 'sum'].map((suffix) => `${of}_${suffix}`),
        ),
      )
      .flatMap((name) => ANALYTICS_METRICS.API.get(name) ?? []);

    it('give the same digits as the runs, whenever they are computed and whatever arrives late', async () => {
      await fc.assert(
        fc.asyncProperty(CASE, async ({ early, late, query, nowMs }) => {
          checks += 1;
          const clock = new FakeClock(nowMs);
          const { rollUp } = createRollUps({
            store,
            clock,
            log: silentLog(),
            retentionDays: 30,
            rollUpRetentionDays: 400,
          });
          const rollUpNow = (): Promise<void> => rollUp(new AbortController().signal);
          const rows = [...early, ...late].map(
            ({ responseTime, dns, ...run }, number): RunMetrics => ({
              ...run,
              checkId: `rolled-${checks}`,
              sequenceId: `run-${number}`,
              measures: { responseTime, dns },
            }),
          );
          const plain = rows.map((run) => ({ ...run, checkId: `plain-${checks}` }));
          const { fromMs, spanMs, minutes, ...shape } = query;
          const read = (checkId: string) =>
            readSeries(
              store,
              {
                ...shape,
                accountId: 'mine',
                checkId,
                fromMs,
                toMs: fromMs + spanMs,
                point: minutes === null ? 'window' : { minutes },
                metrics,
                limit: 100,
                offset: 0,
                maxPoints: 10_000,
              },
              { ...MANY, nowMs },
            );
          await insertRunMetrics(store, { accountId: 'mine', runs: rows.slice(0, early.length) });
          await rollUpNow();
          await insertRunMetrics(store, { accountId: 'mine', runs: rows.slice(early.length) });
          const halfRolled = await read(`rolled-${checks}`);
          // Its roll-ups are due and not computed: it is read run by run.
          await insertRunMetrics(store, { accountId: 'mine', runs: plain });
          const unrolled = await read(`plain-${checks}`);
          expect(halfRolled).toEqual(unrolled);
          await rollUpNow();
          expect(await read(`rolled-${checks}`)).toEqual(unrolled);
          // The rest is due some days later.
          clock.stepWall(3 * DAY_MS);
          await rollUpNow();
          expect(await read(`rolled-${checks}`)).toEqual(unrolled);
          const marks = `select from rollup_marks where check_id = $1`;
          if (nowMs > FROM_MS + (DAYS + 1) * DAY_MS) {
            expect(await store.query(marks, [`rolled-${checks}`])).toEqual([]);
          }
        }),
        { numRuns: caseCount(40) },
      );
    });
  });
});
