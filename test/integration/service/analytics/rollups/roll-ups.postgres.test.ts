import { afterEach, describe, expect, it } from 'vitest';
import { createRollUps } from '../../../../../src/service/analytics/rollups/roll-up.ts';
import { insertRunMetrics } from '../../../../../src/service/analytics/run-metrics.sql.ts';
import { insertMissed } from '../../../../../src/service/results/missed-slots/sql.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { settle } from '../../../../support/fake-clock.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { problemsIn, useRunningService } from '../../../../support/service/service-fixture.ts';

const HOUR_MINUTES = 60;
const DAY_MINUTES = 1440;
const PATH = '/v1/checks/shop/availability';
const never = new AbortController().signal;

/** The clock of the service starts at a midnight: today is over when it has moved by this. */
const TOMORROW_MS = DAY_MS + 3_600_000;

describe.each(databases)('on %s', (kind) => {
  describe('roll-ups', () => {
    const service = useRunningService(kind);
    const fixture = useResultsFixture(service);

    // Creates partitions again that earlier tests dropped.
    afterEach(async () => {
      const { clock, store } = service();
      clock.stepWall(NOW - clock.wallMs());
      await store.query('delete from rollup_state');
      await store.query("select make_result_partitions('2025-12-25', '2026-01-04')");
      await store.query(
        "select make_rollup_partitions('2025-12-25', '2026-01-04', '2025-12-25')::text",
      );
    });

    const bring = async (...runs: readonly Run[]): Promise<void> => {
      const { berlin, oslo, deliver } = fixture();
      for (const place of [berlin, oslo]) {
        const own = runs.filter(({ runLocation = 'berlin' }) => runLocation === place.slug);
        if (own.length > 0) await deliver(place, { results: own.map(resultOfRun) });
      }
    };
    const rollUp = (): Promise<void> => fixture().features.rollUps.rollUp(never);
    const rollUps = (retentionDays = 30, rollUpRetentionDays = 400) =>
      createRollUps({
        store: fixture().store,
        clock: fixture().clock,
        log: silentLog(),
        retentionDays,
        rollUpRetentionDays,
      });
    const get = async (path: string) => {
      const { status, json, text } = await fixture().mine.get(path);
      expect([status, text]).toEqual([200, expect.any(String)]);
      return json;
    };
    const report = async (metrics: string, query = 'quickRange=last30Days') =>
      (await get(`/v1/analytics/url/shop?metrics=${metrics}&${query}`)).series;
    const marks = () =>
      fixture().store.query(`select kind, span from rollup_marks where account_id = $1`, [
        fixture().mine.accountId,
      ]);
    /** Removes the results of the oldest day past the retention, as the service does every hour. */
    const dropResults = async (nowMs: number): Promise<unknown> => {
      const [row] = await fixture().store.query(
        'select drop_oldest_result_partition(30, $1::date) as name',
        [new Date(nowMs).toISOString().slice(0, 10)],
      );
      return row?.name;
    };
    const someRuns = (): readonly Run[] => [
      { slot: minutesAgo(5), responseTime: 120, isDegraded: true },
      { slot: minutesAgo(10), responseTime: 0.1, runLocation: 'oslo' },
      { slot: minutesAgo(25), responseTime: 0.2, hasFailures: true },
      { slot: minutesAgo(3 * HOUR_MINUTES), responseTime: 0.7, attempts: 2 },
      { slot: minutesAgo(2 * DAY_MINUTES + 7), responseTime: 33.3 },
      { slot: minutesAgo(2 * DAY_MINUTES + 9), hasFailures: true, runLocation: 'oslo' },
    ];

    it('show the availability of each day and quarter hour, and what they miss', async () => {
      await bring(...someRuns());
      const { berlin, deliver } = fixture();
      const slot = minutesAgo(DAY_MINUTES + 20);
      const lastSlot = minutesAgo(DAY_MINUTES - 19);
      await deliver(berlin, { missed: [{ checkId: 'shop', slot, lastSlot, count: 40 }] });
      const before = await get(`${PATH}?days=4`);
      expect(before).toMatchObject({
        checkId: 'shop',
        availability: (100 * 4) / 6,
        runs: 6,
        failures: 2,
        degraded: 1,
        missed: 40,
        usualResponseTime: null,
        days: [
          { date: '2025-12-29', availability: 50, runs: 2, failures: 1, degraded: 0, missed: 0 },
          { date: '2025-12-30', availability: null, runs: 0, failures: 0, degraded: 0, missed: 20 },
          { date: '2025-12-31', availability: 75, runs: 4, failures: 1, degraded: 1, missed: 20 },
          { date: '2026-01-01', availability: null, runs: 0, missed: 0 },
        ],
      });
      const quarters = before.quarterHours.filter(({ runs }: { runs: number }) => runs > 0);
      expect(before.quarterHours).toHaveLength(96);
      expect(before.quarterHours[95].start).toBe(new Date(NOW).toISOString());
      expect(quarters).toEqual([
        { start: '2025-12-31T21:00:00.000Z', availability: 100, runs: 1, failures: 0, degraded: 0 },
        { start: '2025-12-31T23:30:00.000Z', availability: 0, runs: 1, failures: 1, degraded: 0 },
        { start: '2025-12-31T23:45:00.000Z', availability: 100, runs: 2, failures: 0, degraded: 1 },
      ]);
      const { clock } = fixture();
      clock.stepWall(14 * 60_000);
      await rollUp();
      // The averages of the days are 33.3 and 40.3 (120, 0.1 and 0.7).
      const usualResponseTime = expect.closeTo((33.3 + 120.8 / 3) / 2, 6);
      expect(await get(`${PATH}?days=4`)).toEqual({ ...before, usualResponseTime });
      const [status] = await get('/v1/check-statuses?cells=true');
      const eachQuarter = (name: string): readonly number[] =>
        before.quarterHours.map((quarter: Record<string, number>) => quarter[name]);
      expect(status).toMatchObject({
        usualResponseTime,
        cells: {
          from: before.quarterHours[0].start,
          minutes: 15,
          runs: eachQuarter('runs'),
          failures: eachQuarter('failures'),
          degraded: eachQuarter('degraded'),
          // The other of the forty runs were earlier.
          missed: [5, ...Array.from({ length: 95 }, () => 0)],
        },
      });
      expect(await marks()).toEqual([]);
    });

    it('contain late results, and no missed slots that have run after all', async () => {
      const { berlin, clock, deliver } = fixture();
      const missed = { checkId: 'shop', slot: minutesAgo(90), lastSlot: minutesAgo(60), count: 31 };
      await deliver(berlin, { missed: [missed] });
      await bring({ slot: minutesAgo(30), responseTime: 10 });
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      expect(await get(`${PATH}?days=3`)).toMatchObject({ runs: 1, missed: 31 });
      await bring(
        { slot: minutesAgo(29), responseTime: 20, hasFailures: true },
        { slot: minutesAgo(70), responseTime: 90 },
      );
      const late = { runs: 3, failures: 1, missed: 30, availability: 200 / 3 };
      const average = [{ data: [expect.objectContaining({ responseTime_avg: 40 })] }];
      expect(await get(`${PATH}?days=3`)).toMatchObject(late);
      expect(await report('responseTime_avg')).toEqual(average);
      await rollUp();
      expect(await marks()).toEqual([]);
      expect(await get(`${PATH}?days=3`)).toMatchObject(late);
      expect(await report('responseTime_avg')).toEqual(average);
    });

    it('contain missed slots that continue a range of the day before', async () => {
      const { clock, mine, store } = fixture();
      const extend = (fromMinutes: number): Promise<void> =>
        insertMissed(store, {
          accountId: mine.accountId,
          maxSpanMs: DAY_MS,
          rows: [
            {
              checkId: 'shop',
              location: 'berlin',
              slot: minutesAgo(fromMinutes),
              lastSlot: minutesAgo(fromMinutes - 9),
              count: 10,
              reason: 'location_silent',
              stepMs: 60_000,
            },
          ],
        });
      await extend(DAY_MINUTES + 10);
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      await extend(DAY_MINUTES);
      const days = [{ missed: 10 }, { missed: 10 }, { missed: 0 }, { missed: 0 }];
      expect(await get(`${PATH}?days=4`)).toMatchObject({ missed: 20, days });
      await rollUp();
      expect(await get(`${PATH}?days=4`)).toMatchObject({ missed: 20, days });
    });

    it('remain when their results are dropped', async () => {
      const { clock, store } = fixture();
      await bring(...someRuns());
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      const metrics = 'availability,retries,responseTime_avg,responseTime_max,dns_sum';
      const window = `from=${(NOW - 3 * DAY_MS) / 1000}&to=${NOW / 1000}`;
      const hourly = `${window}&aggregationInterval=60&groupBy=runLocation`;
      const kept = await Promise.all([
        report(metrics, window),
        report(metrics, hourly),
        report(metrics, `${window}&groupBy=statusCode&filterByStatus=success`),
      ]);
      const days = await get(`${PATH}?days=40`);
      clock.stepWall(33 * DAY_MS);
      while ((await dropResults(clock.wallMs())) !== null);
      expect(await store.query('select from result_metrics where check_id = $1', ['shop'])).toEqual(
        [],
      );
      expect(
        await Promise.all([
          report(metrics, window),
          report(metrics, hourly),
          report(metrics, `${window}&groupBy=statusCode&filterByStatus=success`),
        ]),
      ).toEqual(kept);
      const later = await get(`${PATH}?days=40`);
      expect(later).toMatchObject({ runs: 6, failures: 2, degraded: 1 });
      expect(later.days.filter(({ runs }: { runs: number }) => runs > 0)).toEqual(
        days.days.filter(({ runs }: { runs: number }) => runs > 0),
      );
      // Percentiles do not follow from roll-ups.
      expect(await report('responseTime_p95', window)).toEqual([{ data: [] }]);
    });

    it('give a report the same digits before and after', async () => {
      const { clock } = fixture();
      await bring(
        ...Array.from({ length: 50 }, (_, number) => ({
          slot: minutesAgo(number * 37 + 1),
          responseTime: 0.1 + number / 7,
        })),
      );
      const hourly = ['responseTime_avg,responseTime_sum', 'aggregationInterval=60'] as const;
      const daily = ['responseTime_avg,availability', 'aggregationInterval=1440'] as const;
      const before = [await report(...hourly), await report(...daily)];
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      clock.stepWall(-TOMORROW_MS);
      expect(await marks()).toEqual([]);
      expect([await report(...hourly), await report(...daily)]).toEqual(before);
      // Not from the runs: these are gone.
      await fixture().store.query('delete from result_metrics');
      expect([await report(...hourly), await report(...daily)]).toEqual(before);
    });

    it('delay the deletion of results that are not rolled up, by two days at most', async () => {
      const { clock, store } = fixture();
      await bring({ slot: minutesAgo(30) });
      const day = 'result_metrics_20251231';
      const isThere = async () =>
        (await store.query('select where to_regclass($1) is not null', [day])).length === 1;
      const dropAll = async (days: number): Promise<void> => {
        while ((await dropResults(NOW + days * DAY_MS)) !== null);
      };
      await dropAll(30);
      expect(await isThere()).toBe(true);
      await dropAll(31);
      expect(await isThere()).toBe(true);
      await store.query(
        `insert into rollup_marks (account_id, check_id, kind, span, start, due)
         values ('nobody', 'old', 'runs', 15, $1, $1)`,
        [new Date(NOW - 9 * DAY_MS)],
      );
      await dropAll(32);
      expect(await isThere()).toBe(false);
      // The previous release does not roll them up, so they would stay for ever.
      expect(await store.query("select from rollup_marks where check_id = 'old'")).toEqual([]);
      clock.stepWall(33 * DAY_MS);
      await rollUp();
      expect(await marks()).toEqual([]);
    });

    it('give the usual response time by hours until the first day is complete', async () => {
      const { clock } = fixture();
      await bring(
        { slot: minutesAgo(5), responseTime: 120 },
        { slot: minutesAgo(10), responseTime: 0.1, runLocation: 'oslo' },
        { slot: minutesAgo(3 * HOUR_MINUTES), responseTime: 0.7 },
      );
      const usual = async () => (await get(PATH)).usualResponseTime;
      expect(await usual()).toBeNull();
      clock.stepWall(7 * 60_000);
      await rollUp();
      expect(await usual()).toBeCloseTo((60.05 + 0.7) / 2, 6);
      clock.stepWall(7 * 60_000);
      await rollUp();
      expect(await usual()).toBeCloseTo(120.8 / 3, 6);
    });

    it('are made of results from before roll-ups, check by check', async () => {
      const { clock, check, store } = fixture();
      const ids = Array.from({ length: 45 }, (_, number) => `check-${number}`);
      for (const id of ids) await check(id);
      await bring(
        ...ids.flatMap((checkId) => [
          { checkId, slot: minutesAgo(5), responseTime: 0.1 },
          { checkId, slot: minutesAgo(DAY_MINUTES + 5), hasFailures: true },
        ]),
      );
      // As after the migration.
      await store.query('delete from rollup_marks');
      await store.query(
        `insert into rollup_backfill (day)
         select distinct date_trunc('day', slot, 'UTC') from result_metrics`,
      );
      const read = () => get('/v1/checks/check-44/availability?days=3');
      const before = await read();
      expect(before).toMatchObject({ runs: 2, failures: 1 });
      clock.stepWall(1);
      await rollUp();
      expect(await store.query('select from rollup_backfill')).toEqual([]);
      await store.query('delete from result_metrics');
      expect(await read()).toEqual({ ...before, usualResponseTime: 0.1 });
    });

    it('are computed once by several replicas, while results come', async () => {
      const { clock, store, mine } = fixture();
      const { accountId } = mine;
      clock.stepWall(TOMORROW_MS);
      const replicas = [rollUps(), rollUps(), rollUps()];
      const slots = Array.from({ length: 120 }, (_, number) => minutesAgo(number + 1));
      const store10 = async (from: number): Promise<void> => {
        const runs = slots.slice(from, from + 10).map((slotMs) => ({
          checkId: 'shop',
          slotMs,
          sequenceId: `run-${slotMs}`,
          runLocation: 'berlin',
          passed: true,
          degraded: false,
          statusCode: 200,
          retries: 0,
          measures: { responseTime: 1.5 },
        }));
        await store.transaction((tx) => insertRunMetrics(tx, { accountId, runs }));
      };
      await replicas[0]?.rollUp(never);
      for (let from = 0; from < slots.length; from += 10) {
        await Promise.all([store10(from), ...replicas.map((replica) => replica.rollUp(never))]);
      }
      await Promise.all(replicas.map((replica) => replica.rollUp(never)));
      await rollUp();
      expect(await marks()).toEqual([]);
      await store.query('delete from result_metrics');
      const found = await get(`${PATH}?days=3`);
      expect(found).toMatchObject({ runs: 120, failures: 0, usualResponseTime: 1.5 });
    });

    it('count no run of the previous release as degraded', async () => {
      await bring({ slot: minutesAgo(5), isDegraded: true });
      const { clock, store } = fixture();
      await store.query('update result_metrics set degraded = null');
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      expect(await get(`${PATH}?days=3`)).toMatchObject({ runs: 1, degraded: 0 });
    });

    it('are deleted after their own retention, quarter hours after 8 days', async () => {
      const { clock, store } = fixture();
      await bring(...someRuns());
      clock.stepWall(TOMORROW_MS);
      await rollUp();
      const spansAt = async (nowMs: number): Promise<readonly unknown[]> => {
        clock.stepWall(nowMs - clock.wallMs());
        const stop = new AbortController();
        const keeping = rollUps(30, 100).maintain(stop.signal);
        while (clock.pendingTimers < 2) await settle();
        stop.abort();
        await keeping;
        const found = await store.query('select distinct span from result_rollups order by span');
        return found.map(({ span }) => span);
      };
      expect(await spansAt(NOW + 5 * DAY_MS)).toEqual([15, 60, 1440]);
      expect(await spansAt(NOW + 9 * DAY_MS)).toEqual([60, 1440]);
      expect(await spansAt(NOW + 99 * DAY_MS)).toEqual([60, 1440]);
      expect(await spansAt(NOW + 140 * DAY_MS)).toEqual([]);
    });

    it('are read for 1 to 400 days of a check of the account', async () => {
      expect(await get(PATH)).toMatchObject({ runs: 0, availability: null });
      expect((await get(PATH)).days).toHaveLength(90);
      for (const days of ['0', '401', 'x']) {
        const reply = await fixture().mine.get(`${PATH}?days=${days}`);
        expect([reply.status, problemsIn(reply)[0]]).toEqual([
          400,
          expect.stringContaining('query.days'),
        ]);
      }
      expect((await fixture().theirs.get(PATH)).status).toBe(404);
      expect((await fixture().mine.get('/v1/checks/other/availability')).status).toBe(404);
    });
  });
});
