import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Features } from '../../src/service/features.ts';
import { apiRoutes } from '../../src/service/http/api-routes.ts';
import { insertAccount } from '../../src/service/store/accounts.ts';
import { migrate } from '../../src/service/store/migrate.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { silentLog, storeConfig } from '../support/databases.ts';
import { findPostgres, startPostgres } from '../support/postgres.ts';
import { startServiceApp } from '../support/service-app.ts';
import { testFeatures } from '../support/service-features.ts';
import { makeData } from './analytics-data.ts';

/**
 * How long reports over ten million results take, asked for through the HTTP API of a service on
 * PostgreSQL as it comes, on the same machine. Each is of another check than the one before. Run by
 * `npm run bench:analytics`; with RESULTS=1000000, of so many results.
 */

const TEN_MILLION = 10_000_000;
const REPORTS = 21;
/** The first reports of a connection make it read the catalogue. */
const WARM_UPS = 3;
const TIMEOUT_MS = 600_000;
const METRICS =
  'responseTime_avg,responseTime_p95,responseTime_p99,responseTime_max,dns_avg,firstByte_p95,availability';
const HOURLY = `aggregationInterval=60&metrics=${METRICS}`;

const ASKED = [
  {
    what: 'last30Days of a check that runs every minute, hourly',
    kind: 'minutely',
    days: 30,
    query: `quickRange=last30Days&${HOURLY}`,
    limitMs: 150,
  },
  {
    what: 'last7Days of a check that runs every minute in three locations, by location, hourly',
    kind: 'parallel',
    days: 7,
    query: `quickRange=last7Days&groupBy=runLocation&${HOURLY}`,
    limitMs: 250,
  },
  {
    what: 'last7Days of a check that runs every minute in turn, by location, hourly',
    kind: 'minutely',
    days: 7,
    query: `quickRange=last7Days&groupBy=runLocation&${HOURLY}`,
    limitMs: 250,
  },
] as const;

/** A body as the API makes it. */
async function checkBody(features: Features, accountId: string): Promise<object> {
  const request = { url: 'https://orders.test/health' };
  const body = { checkType: 'API', name: 'Orders', request, locations: ['eu-west-1'] };
  const { check } = await features.checks.put(accountId, 'first', body, { autoAssignAlerts: true });
  const { id: _, ...fields } = check;
  return fields;
}

async function measure(databaseUrl: string): Promise<void> {
  const config = storeConfig({ databaseUrl, statementTimeoutMs: TIMEOUT_MS });
  const log = silentLog();
  const store = await openStore(config, { clock: systemClock, log });
  await migrate(store, log);
  const { features, close } = await testFeatures(store, systemClock);
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: 'bench', createdAtMs: Date.now() });
  const startMs = performance.now();
  const data = await makeData(store, {
    accountId,
    check: await checkBody(features, accountId),
    nowMs: Date.now(),
    share: Number(process.env.RESULTS ?? TEN_MILLION) / TEN_MILLION,
  });
  const seconds = Math.round((performance.now() - startMs) / 1000);
  process.stdout.write(
    `PostgreSQL: ${data.results} results of ${data.checks} checks (made in ${seconds} s)\n`,
  );
  const service = await startServiceApp(apiRoutes(features, new AbortController().signal), {
    store,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
  });
  const runsOf = async (checkId: string, days: number): Promise<unknown> => {
    const rows = await store.query(
      `select count(*) as runs from result_metrics where account_id = $1 and check_id = $2
         and slot >= now() - make_interval(days => $3::int)`,
      [accountId, checkId, days],
    );
    return rows[0]?.runs;
  };
  for (const { what, kind, days, query, limitMs } of ASKED) {
    // One key may ask thirty times a minute.
    const { key } = await features.apiKeys.create(accountId, {
      name: what.slice(0, 50),
      role: 'read',
    });
    const ids = data.ids[kind];
    const tookMs: number[] = [];
    let points = 0;
    for (let report = 0; report < WARM_UPS + REPORTS; report += 1) {
      const path = `/v1/analytics/api-checks/${ids[report % ids.length]}?${query}`;
      const askedMs = performance.now();
      const { status, text } = await service.ask(path, { key });
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
      points = text.split('"time"').length - 1;
      if (report >= WARM_UPS) tookMs.push(performance.now() - askedMs);
    }
    const sorted = tookMs.toSorted((one, other) => one - other);
    const quantile = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
    process.stdout.write(
      `${what}: median ${quantile(0.5)} ms of ${REPORTS} (the aim is ${limitMs} ms), p90 ${quantile(0.9)} ms; ${points} points of ${await runsOf(ids[0] ?? '', days)} runs\n`,
    );
  }
  await service.close();
  await close();
  await store.close();
}

if (findPostgres() === null) {
  process.stdout.write('PostgreSQL: not measured, as there is no initdb and postgres on PATH\n');
} else {
  const server = await startPostgres();
  try {
    await measure(await server.createDatabase());
  } finally {
    await server.remove();
  }
}
