import { describe, expect, it } from 'vitest';
import { ANALYTICS_METRICS } from '../../../../src/model/result/analytics.ts';
import type { HttpTimingPhases } from '../../../../src/model/result/details/http-detail.ts';
import { createAnalytics } from '../../../../src/service/analytics/analytics.ts';
import { databases } from '../../../support/database/databases.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  HOSTILE,
  problemsIn,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/analytics/url/shop';
const SUFFIXES = ['avg', 'max', 'median', 'min', 'p50', 'p90', 'p95', 'p99', 'stddev', 'sum'];
const iso = (ms: number): string => new Date(ms).toISOString();
const seconds = (ms: number): number => ms / 1000;

/** A run with this status and these phases. Without a status it got no answer. */
function httpDetail(status: number | null, phases: Partial<HttpTimingPhases> = {}) {
  const timingPhases = { ...HTTP_RESPONSE.timingPhases, ...phases };
  return status === null
    ? { ...HTTP_DETAIL, response: null, timingPhases }
    : { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, status, timingPhases } };
}

const NO_FAILURE = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
};

/** `GET /v1/analytics/…` (src/service/README.md, "Analytics", 4.3) through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('analytics', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    /** Brings runs of berlin and oslo, those of each slot with its response time by default. */
    const bring = async (...runs: readonly Run[]): Promise<void> => {
      const { berlin, oslo, deliver } = fixture();
      for (const location of [berlin, oslo]) {
        const own = runs.filter(({ runLocation = 'berlin' }) => runLocation === location.slug);
        if (own.length > 0) await deliver(location, { results: own.map(resultOfRun) });
      }
    };
    const ask = async (query: string, path = PATH): Promise<Reply> => {
      const reply = await fixture().mine.get(`${path}?${query}`);
      expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
      return reply;
    };
    const seriesOf = async (query: string, path = PATH) => (await ask(query, path)).json.series;
    const dataOf = async (query: string, path = PATH) => {
      const series = await seriesOf(query, path);
      expect(series).toHaveLength(1);
      return series[0].data;
    };
    /** Minutes ago of the points of the only series. */
    const listed = async (query: string): Promise<number[]> =>
      (await dataOf(query)).map(({ time }: { time: string }) => (NOW - Date.parse(time)) / 60_000);
    const refused = async (query: string, path = PATH): Promise<readonly string[]> => {
      const reply = await fixture().mine.get(`${path}?${query}`);
      expect([query, reply.status]).toEqual([query, 400]);
      return problemsIn(reply);
    };

    it('have a point for each run with plain metrics, and the fields of the check', async () => {
      await fixture().check('shop', {
        tags: [HOSTILE],
        frequency: 5,
        muted: true,
        activated: false,
      });
      const minutes = Array.from({ length: 12 }, (_, n) => 12 - n);
      await bring(...minutes.map((ago) => ({ slot: minutesAgo(ago), responseTime: ago + 0.125 })));
      const reply = await ask('metrics=responseTime,dns');
      expect(reply.json).toEqual({
        checkId: 'shop',
        name: 'Check shop',
        checkType: 'URL',
        activated: false,
        muted: true,
        frequency: 5,
        from: iso(NOW - DAY_MS),
        to: iso(NOW),
        tags: [HOSTILE],
        series: [
          {
            data: minutes.map((ago) => ({
              time: iso(minutesAgo(ago)),
              responseTime: ago + 0.125,
              dns: 1.5,
            })),
          },
        ],
        pagination: { page: 1, limit: 10 },
        metadata: {
          responseTime: { unit: 'milliseconds', label: 'Response time', aggregation: 'avg' },
          dns: { unit: 'milliseconds', label: 'DNS', aggregation: 'avg' },
        },
      });
    });

    it('have one point for the window with suffixed metrics, and plain ones aggregated as their metadata says', async () => {
      await bring(
        ...[10, 20, 30, 40].map((responseTime, n) => ({
          slot: minutesAgo(n + 1),
          responseTime,
          attempts: n,
          hasFailures: n === 3,
          isDegraded: n === 2,
        })),
      );
      const names = SUFFIXES.map((suffix) => `responseTime_${suffix}`);
      const plain = ['responseTime', 'availability', 'retries'];
      const reply = await ask(`metrics=${[...names, ...plain].join(',')}`);
      const [point, ...others] = reply.json.series[0].data;
      expect([reply.json.series.length, others]).toEqual([1, []]);
      const {
        responseTime_p90: p90,
        responseTime_p95: p95,
        responseTime_p99: p99,
        ...rest
      } = point;
      expect(rest).toEqual({
        time: iso(NOW - DAY_MS),
        responseTime_avg: 25,
        responseTime_max: 40,
        responseTime_median: 25,
        responseTime_min: 10,
        responseTime_p50: 25,
        responseTime_stddev: Math.sqrt(125),
        responseTime_sum: 100,
        responseTime: 25,
        availability: 75,
        retries: 6,
      });
      expect([p90, p95, p99].map((value) => Number(value.toFixed(6)))).toEqual([37, 38.5, 39.7]);
      const shown = reply.json.metadata;
      expect(Object.keys(shown)).toEqual([...names, ...plain]);
      expect(names.map((name) => shown[name].aggregation)).toEqual(SUFFIXES);
      expect(shown.availability).toMatchObject({ unit: 'percentage', aggregation: 'avg' });
      expect(shown.retries).toMatchObject({ unit: 'count', aggregation: 'sum' });
    });

    it('have availability and retries for the window, or for each run beside plain metrics', async () => {
      await bring(
        { slot: minutesAgo(3), attempts: 2, responseTime: 5 },
        { slot: minutesAgo(2), hasFailures: true, responseTime: 6 },
        { slot: minutesAgo(1), isDegraded: true, responseTime: 7 },
      );
      const [window] = await dataOf('metrics=availability&metrics=retries');
      expect(window).toEqual({
        time: iso(NOW - DAY_MS),
        availability: expect.closeTo(200 / 3),
        retries: 2,
      });
      const points = await dataOf('metrics=availability,retries&metrics=responseTime');
      expect(points.map(Object.values)).toEqual([
        [iso(minutesAgo(3)), 100, 2, 5],
        [iso(minutesAgo(2)), 0, 0, 6],
        [iso(minutesAgo(1)), 100, 0, 7],
      ]);
    });

    it('count each run once, and only runs that judge the target', async () => {
      const once = { slot: minutesAgo(1), attempts: 1, responseTime: 8 };
      await bring({ ...once, resultType: 'ATTEMPT', hasFailures: true });
      expect(await dataOf('metrics=responseTime')).toEqual([]);
      await bring(once);
      await bring(once);
      // A retry in berlin of oslo's run, beside berlin's own run of the same slot.
      const retry = { slot: minutesAgo(1), origin: 'oslo', attempts: 2, responseTime: 10 };
      await fixture().handOver(fixture().berlin, resultOfRun(retry));
      await bring(
        // Another agent made the same run, and needed no retry for it.
        { ...once, attempts: 0, responseTime: 9 },
        { slot: minutesAgo(2), isCancelled: true, hasFailures: true },
        { slot: minutesAgo(3), hasErrors: true },
        retry,
      );
      const points = await dataOf('metrics=responseTime,retries');
      expect(
        points.map(({ responseTime, retries }: Reply['json']) => [responseTime, retries]),
      ).toEqual(
        expect.arrayContaining([
          [8, 1],
          [10, 2],
        ]),
      );
      expect(points).toHaveLength(2);
      expect(await dataOf('metrics=availability')).toMatchObject([{ availability: 100 }]);
    });

    it('have intervals in UTC, from midnight and from Monday on', async () => {
      await bring(
        ...[1, 59, 60, 61, 1439, 1441, 60 * 24 * 4].map((ago) => ({
          slot: minutesAgo(ago),
          responseTime: ago,
        })),
      );
      const intervals = async (minutes: number) =>
        (
          await dataOf(
            `quickRange=last7Days&metrics=responseTime,responseTime_max&aggregationInterval=${minutes}`,
          )
        ).map(({ time, ...values }: Record<string, unknown>) => [time, ...Object.values(values)]);
      expect(await intervals(60)).toEqual([
        ['2025-12-28T00:00:00.000Z', 5760, 5760],
        ['2025-12-30T23:00:00.000Z', 1441, 1441],
        ['2025-12-31T00:00:00.000Z', 1439, 1439],
        ['2025-12-31T22:00:00.000Z', 61, 61],
        ['2025-12-31T23:00:00.000Z', 40, 60],
      ]);
      expect(await intervals(1440)).toEqual([
        ['2025-12-28T00:00:00.000Z', 5760, 5760],
        ['2025-12-30T00:00:00.000Z', 1441, 1441],
        ['2025-12-31T00:00:00.000Z', 324, 1439],
      ]);
      expect((await intervals(10_080)).map(([time]: unknown[]) => time)).toEqual([
        '2025-12-22T00:00:00.000Z',
        '2025-12-29T00:00:00.000Z',
      ]);
      expect(await intervals(1)).toHaveLength(7);
    });

    it('have a named window, where from and to replace its ends', async () => {
      const created = { slot: minutesAgo(10), responseTime: 1 };
      await bring(created, { slot: minutesAgo(400) }, { slot: minutesAgo(60 * 24 * 5) });
      expect(await listed('metrics=dns')).toEqual([400, 10]);
      expect(await listed('metrics=dns&quickRange=last7Days')).toEqual([7200, 400, 10]);
      expect(await listed('metrics=dns&quickRange=lastMonth')).toEqual([7200, 400, 10]);
      expect(await listed('metrics=dns&quickRange=thisMonth')).toEqual([]);
      expect(await listed('metrics=dns&quickRange=lastWeek')).toEqual([7200]);
      const at = (ago: number) => seconds(minutesAgo(ago));
      expect(await listed(`metrics=dns&from=${at(400)}`)).toEqual([400, 10]);
      expect(await listed(`metrics=dns&from=${at(400) + 1}`)).toEqual([10]);
      expect(await listed(`metrics=dns&to=${at(10)}`)).toEqual([400]);
      expect(await listed(`metrics=dns&to=${at(10) + 1}`)).toEqual([400, 10]);
      expect(await listed(`metrics=dns&from=0&to=${minutesAgo(399)}`)).toEqual([7200, 400]);
      expect(await listed(`metrics=dns&from=${at(10)}&to=${at(10)}`)).toEqual([]);
      const { json } = await ask(`metrics=dns&quickRange=lastWeek&to=${at(10)}`);
      expect([json.from, json.to]).toEqual(['2025-12-22T00:00:00.000Z', iso(minutesAgo(10))]);
      expect(await refused(`metrics=dns&from=${at(9)}&to=${at(10)}`)).toEqual([
        `query.to must not be before the start of the window: ${iso(minutesAgo(10))} is before ${iso(minutesAgo(9))}`,
      ]);
      expect(await refused(`metrics=dns&to=${at(60 * 24 * 2)}`)).toHaveLength(1);
    });

    it('are filtered by the status of the runs', async () => {
      await bring(
        { slot: minutesAgo(1), hasFailures: true },
        { slot: minutesAgo(2), isDegraded: true },
        { slot: minutesAgo(3) },
      );
      const filters: [string, number[]][] = [
        ['', [3, 2, 1]],
        ['&filterByStatus=success', [3, 2]],
        ['&filterByStatus=failure', [1]],
        ['&filterByStatus=failure,success', [3, 2, 1]],
        ['&filterByStatus=failure&filterByStatus=failure', [1]],
      ];
      for (const [filter, found] of filters) {
        expect([filter, await listed(`metrics=dns${filter}`)]).toEqual([filter, found]);
      }
      expect(await dataOf('metrics=availability&filterByStatus=failure')).toMatchObject([
        { availability: 0 },
      ]);
    });

    it('have a series for each location', async () => {
      await bring(
        { slot: minutesAgo(2), runLocation: 'oslo', responseTime: 30 },
        { slot: minutesAgo(1), runLocation: 'oslo', responseTime: 50 },
        { slot: minutesAgo(1), responseTime: 10 },
      );
      const grouped = 'groupBy=runLocation&metrics=responseTime';
      const berlin = {
        runLocation: 'berlin',
        data: [{ time: iso(minutesAgo(1)), responseTime: 10 }],
      };
      const oslo = {
        runLocation: 'oslo',
        data: [
          { time: iso(minutesAgo(2)), responseTime: 30 },
          { time: iso(minutesAgo(1)), responseTime: 50 },
        ],
      };
      expect(await seriesOf(grouped)).toEqual([berlin, oslo]);
      expect(await seriesOf(`${grouped}&limit=1`)).toEqual([berlin]);
      const second = await ask(`${grouped}&limit=1&page=2`);
      expect(second.json).toMatchObject({ series: [oslo], pagination: { page: 2, limit: 1 } });
      expect(await seriesOf(`${grouped}&page=2`)).toEqual([]);
      expect(await seriesOf('metrics=responseTime&page=2')).toEqual([]);
      const time = iso(NOW - DAY_MS);
      expect(await seriesOf('groupBy=runLocation&metrics=responseTime_avg')).toEqual([
        { runLocation: 'berlin', data: [{ time, responseTime_avg: 10 }] },
        { runLocation: 'oslo', data: [{ time, responseTime_avg: 40 }] },
      ]);
      const hours = `${grouped}_max&aggregationInterval=60&limit=1`;
      expect(await seriesOf(`${hours}&page=2`)).toEqual([
        { runLocation: 'oslo', data: [{ time: iso(NOW - 3_600_000), responseTime_max: 50 }] },
      ]);
    });

    it('have a series for each status code, and one for runs without an answer', async () => {
      await bring(
        { slot: minutesAgo(1), apiCheckResult: httpDetail(503), hasFailures: true },
        { slot: minutesAgo(2), apiCheckResult: httpDetail(null, { dns: 4 }), hasFailures: true },
        { slot: minutesAgo(3), apiCheckResult: httpDetail(200) },
        { slot: minutesAgo(4), apiCheckResult: null },
      );
      const point = (ago: number, dns: number | null) => ({ time: iso(minutesAgo(ago)), dns });
      expect(await seriesOf('metrics=dns&groupBy=statusCode')).toEqual([
        { statusCode: 200, data: [point(3, 1.5)] },
        { statusCode: 503, data: [point(1, 1.5)] },
        { statusCode: null, data: [point(4, null), point(2, 4)] },
      ]);
      expect(await seriesOf('metrics=availability&groupBy=statusCode&limit=2&page=2')).toEqual([
        { statusCode: null, data: [{ time: iso(NOW - DAY_MS), availability: expect.closeTo(50) }] },
      ]);
    });

    it('are empty without runs', async () => {
      for (const query of ['dns', 'dns_p95', 'availability', 'dns&aggregationInterval=60']) {
        expect([query, await dataOf(`metrics=${query}`)]).toEqual([query, []]);
        expect(await seriesOf(`metrics=${query}&groupBy=runLocation`)).toEqual([]);
      }
    });

    it('refuse invalid queries', async () => {
      const wrong: [string, string][] = [
        ['', 'query.metrics is missing'],
        ['metrics=', 'query.metrics[0] must be a metric of URL checks, not ""'],
        ['metrics=responseTime_p96', 'did you mean responseTime_p9'],
        [
          'metrics=dns,responsetime',
          'query.metrics[1] must be a metric of URL checks, not "responsetime"; did you mean responseTime?',
        ],
        [
          'metrics=packetLoss',
          'the plain ones are responseTime, wait, dns, tcp, firstByte, download, availability, retries',
        ],
        [`metrics=${'x'.repeat(5000)}`, 'query.metrics[0] must be a metric'],
        ['metrics=dns&aggregationInterval=0', 'query.aggregationInterval'],
        ['metrics=dns&aggregationInterval=43201', 'query.aggregationInterval'],
        ['metrics=dns&aggregationInterval=1.5', 'query.aggregationInterval'],
        ['metrics=dns&quickRange=lastYear', 'query.quickRange'],
        ['metrics=dns&filterByStatus=degraded', 'query.filterByStatus[0]'],
        ['metrics=dns&groupBy=runlocation', 'query.groupBy'],
        ['metrics=dns&limit=0', 'query.limit'],
        ['metrics=dns&limit=101', 'query.limit'],
        ['metrics=dns&page=0', 'query.page'],
        ['metrics=dns&from=yesterday', 'query.from'],
        [
          'metrics=dns&interval=5',
          'query.interval is not a known parameter; did you mean aggregationInterval?',
        ],
      ];
      for (const [query, problem] of wrong) {
        expect([query, (await refused(query)).join('\n')]).toEqual([
          query,
          expect.stringContaining(problem),
        ]);
      }
      await ask('metrics=dns,dns&metrics=dns&aggregationInterval=43200&limit=100');
    });

    it('refuse more values than the limit', async () => {
      const { mine, store } = fixture();
      await bring({ slot: minutesAgo(1) });
      const insert = (from: number, to: number): Promise<unknown> =>
        store.query(
          `insert into result_metrics (account_id, check_id, slot, run_key, run_location, passed, retries)
           select $1, 'shop', $2::timestamptz + n * interval '1 microsecond', n, 'berlin', true, 0
           from generate_series($3::int, $4::int) n`,
          [mine.accountId, new Date(minutesAgo(5)), from, to],
        );
      const phases = ['wait', 'dns', 'tcp', 'firstByte', 'download'];
      const names = phases.flatMap((name) => SUFFIXES.map((suffix) => `${name}_${suffix}`));
      const query = `metrics=${names.join(',')}&aggregationInterval=1`;
      await insert(1, 33_332);
      expect(await dataOf('metrics=dns,wait,tcp')).toHaveLength(33_333);
      await insert(33_333, 33_333);
      expect(await refused('metrics=dns,wait,tcp')).toEqual([
        'query.aggregationInterval must be given, or the window shorter, or the metrics fewer: points times metrics are more than 100000',
      ]);
      expect(await dataOf(query)).toHaveLength(2);
    });

    if (kind === 'pglite')
      it('refuse more runs than the limit of the embedded database', async () => {
        const { mine, store } = fixture();
        await bring(...[1, 2, 3, 4].map((ago) => ({ slot: minutesAgo(ago) })));
        const { clock } = fixture();
        const analytics = createAnalytics({ store, clock, maxRunsEmbedded: 3 });
        const report = (fromMs: number) =>
          analytics.report(mine.accountId, 'shop', 'URL', {
            quickRange: 'last24Hours',
            fromMs,
            toMs: null,
            aggregationMinutes: null,
            statuses: [],
            groupBy: null,
            metrics: [...ANALYTICS_METRICS.URL.values()].slice(0, 1),
            limit: 10,
            page: 1,
          });
        expect((await report(minutesAgo(3))).series[0]?.data).toHaveLength(3);
        await expect(report(minutesAgo(4))).rejects.toMatchObject({
          status: 400,
          message: 'query.from must be later, or to earlier: the window has more than 3 runs',
        });
      });

    it('exist for checks of every type', async () => {
      const { check, deliver, berlin } = fixture();
      const bringOne = (checkId: string, fields: Partial<Run>): Promise<void> =>
        deliver(berlin, {
          results: [
            resultOfRun({
              slot: minutesAgo(1),
              checkId,
              apiCheckResult: null,
              responseTime: 70.5,
              ...fields,
            }),
          ],
        });
      await check('api-check', { checkType: 'API' });
      const phases = { wait: 0.5, dns: 1, tcp: 2, tls: 3, firstByte: 4, download: 5, total: 15.5 };
      await bringOne('api-check', { checkType: 'API', apiCheckResult: httpDetail(200, phases) });
      await check('tcp-check', { checkType: 'TCP', request: { hostname: 'h', port: 22 } });
      await bringOne('tcp-check', {
        checkType: 'TCP',
        tcpCheckResult: {
          ...NO_FAILURE,
          request: { hostname: 'h', port: 22, data: null, ipFamily: 'IPv4' },
          response: null,
          timings: { lookup: 1, connect: 3, response: null, end: 6 },
          timingPhases: { dns: 1, connection: 2, data: 3, total: 6 },
        },
      });
      await check('dns-check', { checkType: 'DNS', request: { query: 'a.test' } });
      await bringOne('dns-check', { checkType: 'DNS' });
      await check('ping', { checkType: 'ICMP', request: { hostname: 'h' } });
      const icmp = {
        ...NO_FAILURE,
        request: { hostname: 'h', pingCount: 10, ipFamily: 'IPv4' as const },
        timings: { lookup: 0, end: 9 },
        timingPhases: { dns: 0, total: 9 },
      };
      await bringOne('ping', {
        checkType: 'ICMP',
        icmpCheckResult: {
          ...icmp,
          response: {
            hostname: 'h',
            resolvedIp: '192.0.2.1',
            ipFamily: 'IPv4',
            pingCount: 3,
            packetsSent: 3,
            packetsReceived: 2,
            packetLoss: 100 / 3,
            dnsResolutionTime: 0,
            latency: { avg: 2, min: 1, max: 3, stdDev: 0.5 },
            pingResults: [],
          },
        },
      });
      await bringOne('ping', {
        checkType: 'ICMP',
        slot: minutesAgo(2),
        icmpCheckResult: { ...icmp, response: null },
      });
      const wanted: [string, string, readonly (readonly (number | null)[])[]][] = [
        [
          'api-checks/api-check',
          'responseTime,wait,dns,tcp,firstByte,download',
          [[70.5, 0.5, 1, 2, 4, 5]],
        ],
        ['tcp/tcp-check', 'responseTime,dns,connection,data', [[70.5, 1, 2, 3]]],
        ['dns/dns-check', 'responseTime,availability,retries', [[70.5, 100, 0]]],
        [
          'icmp/ping',
          'packetLoss,latencyMin,latencyMax,latencyAvg,latencyStdDev',
          [
            [null, null, null, null, null],
            [100 / 3, 1, 3, 2, 0.5],
          ],
        ],
      ];
      for (const [path, metrics, points] of wanted) {
        const data: readonly Record<string, unknown>[] = await dataOf(
          `metrics=${metrics}`,
          `/v1/analytics/${path}`,
        );
        const values = data.map(({ time: _, ...rest }) => Object.values(rest));
        expect([path, values]).toEqual([path, points]);
      }
      expect(
        await refused('metrics=packetLoss&groupBy=statusCode', '/v1/analytics/icmp/ping'),
      ).toEqual(['query.groupBy must be runLocation, not "statusCode"']);
    });

    it('exist only for checks of the account and the type', async () => {
      const { mine, theirs } = fixture();
      expect((await theirs.get(`${PATH}?metrics=dns`)).status).toBe(404);
      expect((await mine.get('/v1/analytics/url/none?metrics=dns')).json).toMatchObject({
        statusCode: 404,
        message: 'There is no such URL check',
      });
      const other = await mine.get('/v1/analytics/icmp/shop?metrics=availability');
      expect([other.status, other.json.message]).toEqual([
        404,
        'There is no such ICMP check: it is of type URL; see /v1/analytics/url/shop',
      ]);
      expect((await theirs.get('/v1/analytics/icmp/shop?metrics=availability')).json.message).toBe(
        'There is no such ICMP check',
      );
    });

    it('are limited to 30 a minute for each API key', async () => {
      const { clientWith } = fixture();
      const [reader, other] = [await clientWith('read'), await clientWith('read')];
      const path = `${PATH}?metrics=dns`;
      const statuses = new Set<number>();
      for (let n = 0; n < 30; n += 1) statuses.add((await reader.get(path)).status);
      expect([...statuses]).toEqual([200]);
      const late = await reader.get(path);
      expect([late.status, Number(late.headers['retry-after']) > 0]).toEqual([429, true]);
      expect((await other.get(path)).status).toBe(200);
    });
  });
});
