import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/runtime/clock.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { Features } from '../../../src/service/feature-types.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { startServiceApp } from '../../support/service/service-app.ts';
import { testFeatures } from '../../support/service/service-features.ts';
import { findData, type MadeData, makeData } from '../analytics/data.ts';
import { measureOverview } from '../analytics/overview.ts';
import { newKeyFor, percentiles, WARM_UPS } from '../analytics/percentiles.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { median } from '../row.ts';
import { openPostgres } from '../service/bench-database.ts';

const TEN_MILLION = 10_000_000;
const SHORT = 200_000;
/** Another number of results, for example 50000000. */
const { BENCH_RESULTS } = process.env;
/** A database in which the data stays: an empty one, or that of an earlier run. */
const { BENCH_DATABASE_URL } = process.env;
/** Reports of one kind in a round, each for a different check. */
const REPORTS = 7;
/** A page of a list of checks. */
const CHECKS_OF_PAGE = 100;
const TIMEOUT_MS = 600_000;
const METRICS =
  'responseTime_avg,responseTime_p95,responseTime_p99,responseTime_max,dns_avg,firstByte_p95,availability';
const HOURLY = `aggregationInterval=60&metrics=${METRICS}`;

const ASKED = [
  {
    what: 'last 30 days of a check that runs every minute, hourly',
    kind: 'minutely',
    query: `quickRange=last30Days&${HOURLY}`,
    limitMs: 150,
  },
  {
    what: 'last 7 days of a check that runs every minute in three locations, by location, hourly',
    kind: 'parallel',
    query: `quickRange=last7Days&groupBy=runLocation&${HOURLY}`,
    limitMs: 250,
  },
  {
    what: 'last 7 days of a check that runs every minute in turn, by location, hourly',
    kind: 'minutely',
    query: `quickRange=last7Days&groupBy=runLocation&${HOURLY}`,
    limitMs: 250,
  },
] as const;

/** Answered from roll-ups. */
const ROLLED_UP = [
  {
    what: 'last 24 hours of a check that runs every minute, by quarter hours, without percentiles',
    pathOf: (id: string) =>
      `/v1/analytics/api-checks/${id}?quickRange=last24Hours&aggregationInterval=15&metrics=availability,responseTime_avg,responseTime_max,dns_avg`,
  },
  {
    what: 'last 7 days of a check that runs every minute, hourly, without percentiles',
    pathOf: (id: string) =>
      `/v1/analytics/api-checks/${id}?quickRange=last7Days&aggregationInterval=60&metrics=availability,responseTime_avg,responseTime_max,dns_avg`,
  },
  {
    what: 'last year of a check that runs every minute, daily, without percentiles',
    pathOf: (id: string) =>
      `/v1/analytics/api-checks/${id}?from=${Math.floor(Date.now() / 1000) - 364 * 86_400}&aggregationInterval=1440&metrics=availability,responseTime_avg,responseTime_max,dns_avg`,
  },
  {
    what: 'last 30 days of a check that runs every minute, hourly, without percentiles',
    pathOf: (id: string) =>
      `/v1/analytics/api-checks/${id}?quickRange=last30Days&aggregationInterval=60&metrics=availability,responseTime_avg,responseTime_max,dns_avg`,
  },
  {
    what: 'last 90 days of a check that runs every minute, daily, without percentiles',
    pathOf: (id: string) =>
      `/v1/analytics/api-checks/${id}?from=${Math.floor(Date.now() / 1000) - 90 * 86_400}&aggregationInterval=1440&metrics=availability,responseTime_avg,responseTime_max,dns_avg`,
  },
  {
    what: 'availability of a check in 90 days and 96 quarter hours',
    pathOf: (id: string) => `/v1/checks/${id}/availability`,
  },
] as const;
const ROLLED_UP_LIMIT_MS = 300;

/** How quickly the service reports on a month. */
export const analyticsPart: Part = {
  name: 'analytics',
  method:
    'Reports of seven metrics by the hour, three of them percentiles, over the HTTP API of a service on PostgreSQL with default settings, on the same machine, with 10 million results of 2,650 checks in 31 days (BENCH_RESULTS sets another number) and daily roll-ups of a year. Each report is for another check than the one before; the value of a round is the median of seven. For reports that are read from roll-ups, and for the overview of all checks, it is the 95th percentile of 20.',
  programs: [],
  isLong: true,
  async run(context) {
    if (BENCH_DATABASE_URL !== undefined) return measure(BENCH_DATABASE_URL, context);
    const database = await openPostgres();
    try {
      return await measure(database.config.databaseUrl, context);
    } finally {
      await database.remove();
    }
  },
};

async function measure(
  databaseUrl: string | null,
  { short, rounds, progress, signal }: PartContext,
): Promise<readonly Measured[]> {
  const config = storeConfig({ databaseUrl, statementTimeoutMs: TIMEOUT_MS });
  const log = silentLog();
  const store = await openStore(config, { clock: systemClock, log });
  try {
    await migrate(store, log);
    const { features, close } = await testFeatures(store, systemClock);
    const newData = async (): Promise<MadeData & { readonly accountId: string }> => {
      const accountId = randomUUID();
      await insertAccount(store, { id: accountId, name: 'bench', createdAtMs: Date.now() });
      const results = Number(BENCH_RESULTS ?? (short ? SHORT : TEN_MILLION));
      progress(`making ${results.toLocaleString('en')} results`);
      const data = await makeData(store, {
        accountId,
        check: await checkBody(features, accountId),
        nowMs: Date.now(),
        share: results / TEN_MILLION,
        progress,
        signal,
      });
      return { ...data, accountId };
    };
    try {
      const data = (await findData(store)) ?? (await newData());
      const { accountId } = data;
      const results = data.results;
      const service = await startServiceApp(apiRoutes(features, new AbortController().signal), {
        store,
        authenticator: features.apiKeys,
        locationKeys: features.locationKeys,
      });
      try {
        const measured: Measured[] = [];
        for (const { what, kind, query, limitMs } of ASKED) {
          progress(what);
          // A key may send thirty requests a minute.
          const newKey = async (): Promise<string> =>
            (await features.apiKeys.create(accountId, { name: kind, role: 'read' })).key;
          const ask = async (key: string, report: number): Promise<number> => {
            const ids = data.ids[kind];
            const path = `/v1/analytics/api-checks/${ids[report % ids.length]}?${query}`;
            const askedMs = performance.now();
            const { status, text } = await service.ask(path, { key });
            if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
            if (!text.includes('"time"')) throw new Error(`a report without points: ${path}`);
            return performance.now() - askedMs;
          };
          const values = await reportTimes(rounds, newKey, ask);
          const measure = `Analytics: ${what}, of ${results.toLocaleString('en')} results`;
          const target = { of: 'value', bound: 'at most', number: limitMs } as const;
          measured.push({ measure, values, unit: 'ms', target });
        }
        for (const { what, pathOf } of ROLLED_UP) {
          progress(what);
          const ids = data.ids.minutely;
          const ask = async (key: string, read: number): Promise<number> => {
            const path = pathOf(ids[read % ids.length] ?? '');
            const askedMs = performance.now();
            const { status, text } = await service.ask(path, { key });
            if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
            if (!/"availability":9\d/.test(text)) throw new Error(`nothing is available: ${path}`);
            return performance.now() - askedMs;
          };
          const values = await percentiles(
            rounds,
            (read) => newKeyFor(features, accountId, read),
            ask,
          );
          measured.push(rolledUpRow(what, data.results, values));
        }
        const what = `availability of ${CHECKS_OF_PAGE} checks in 90 days and 96 quarter hours`;
        progress(what);
        const ids = Object.values(data.ids).flat();
        const values = await percentiles(
          rounds,
          async () => '',
          async (_, read) => {
            const at = (read * CHECKS_OF_PAGE) % Math.max(1, ids.length - CHECKS_OF_PAGE);
            const page = ids.slice(at, at + CHECKS_OF_PAGE);
            const askedMs = performance.now();
            await features.availability.ofChecks(accountId, page, 90);
            return performance.now() - askedMs;
          },
        );
        measured.push(rolledUpRow(what, data.results, values));
        measured.push(
          ...(await measureOverview({
            service,
            features,
            accountId,
            checks: data.checks,
            rounds,
            progress,
          })),
        );
        progress('usual response times');
        measured.push(await usualTimes(features, { store, accountId, data, rounds }));
        return measured;
      } finally {
        await service.close();
      }
    } finally {
      await close();
    }
  } finally {
    await store.close();
  }
}

/** Compares the estimate from roll-ups by day with that from roll-ups by hour. */
async function usualTimes(
  { availability }: Features,
  {
    store,
    accountId,
    data,
    rounds,
  }: {
    readonly store: Store;
    readonly accountId: string;
    readonly data: MadeData;
    readonly rounds: number;
  },
): Promise<Measured> {
  const { minutely, parallel, other } = data.ids;
  const checkIds = [...minutely, ...parallel, ...other].slice(0, CHECKS_OF_PAGE);
  const timed = (work: () => Promise<unknown>): Promise<readonly number[]> =>
    percentiles(
      rounds,
      async () => '',
      async () => {
        const askedMs = performance.now();
        await work();
        return performance.now() - askedMs;
      },
    );
  return {
    measure: `Roll-ups: usual response time of ${checkIds.length} checks, of ${data.results.toLocaleString('en')} results, 95th percentile`,
    values: await timed(() => availability.usualResponseTimes(accountId, checkIds)),
    unit: 'ms',
    beside: {
      name: 'from hours',
      values: await timed(() => store.query(USUAL_OF_HOURS, [accountId, checkIds])),
    },
  };
}

const USUAL_OF_HOURS = `
  select check_id, percentile_cont(0.5) within group (order by average) as usual
  from (
    select check_id, (sum(response_time_sum) / sum(response_time_count))::float8 as average
    from result_rollups
    where account_id = $1 and check_id = any($2::text[]) and span = 60
      and start >= now() - interval '7 days' and passed and response_time_count > 0
    group by check_id, start
  ) as hours
  group by check_id`;

function rolledUpRow(what: string, results: number, values: readonly number[]): Measured {
  return {
    measure: `Roll-ups: ${what}, of ${results.toLocaleString('en')} results, 95th percentile`,
    values,
    unit: 'ms',
    target: { of: 'value', bound: 'at most', number: ROLLED_UP_LIMIT_MS },
  };
}

async function reportTimes(
  rounds: number,
  newKey: () => Promise<string>,
  ask: (key: string, report: number) => Promise<number>,
): Promise<readonly number[]> {
  let report = 0;
  const measure = async (count: number): Promise<number[]> => {
    const key = await newKey();
    const tookMs: number[] = [];
    for (let asked = 0; asked < count; asked += 1, report += 1) {
      tookMs.push(await ask(key, report));
    }
    return tookMs;
  };
  await measure(WARM_UPS);
  const medians: number[] = [];
  for (let round = 0; round < rounds; round += 1) medians.push(median(await measure(REPORTS)));
  return medians;
}

/** A body as the API returns it. */
async function checkBody(features: Features, accountId: string): Promise<object> {
  const request = { url: 'https://orders.test/health' };
  const body = { checkType: 'API', name: 'Orders', request, locations: ['eu-west-1'] };
  const { check } = await features.checks.put({ accountId, id: 'first' }, body, {
    autoAssignAlerts: true,
  });
  const { id: _, ...fields } = check;
  return fields;
}
