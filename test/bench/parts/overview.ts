import { systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { addManyChecks } from '../../browser/dashboard/overview/overview-samples.ts';
import { launchBrowser } from '../../browser/support/browser.ts';
import {
  type DashboardAccount,
  type DashboardService,
  newDashboardAccount,
  openDashboardPage,
  startDashboardService,
} from '../../browser/support/dashboard-service.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { measureOverview } from '../analytics/overview.ts';
import { addRollUps } from '../analytics/roll-ups.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { openPostgres } from '../service/bench-database.ts';

const CHECKS = 10_000;
const SHORT_CHECKS = 1_000;
const TIMEOUT_MS = 600_000;
const PAINT_LIMIT_MS = 1_000;
const MEMORY_LIMIT_MB = 100;
const LOAD_LIMIT_KB = 150;
const ANSWERS_LIMIT_KB = 100;
const BYTES_OF_MB = 1_000_000;
const BYTES_OF_KB = 1_000;

export const overviewPart: Part = {
  name: 'overview',
  method:
    'The overview of 10,000 checks, of which one in five hundred fails, with the quarter hours of a day and the days of a week, on PostgreSQL on the same machine. Requests: over HTTP; the value of a round is the 95th percentile of 20. Paint: in a new window of Chromium, from the navigation to the first paint, and until the first check is shown. Memory: the JavaScript heap afterwards.',
  answer:
    "One round, measured while other programs used the machine (load 12 to 18 on the two cores). Before the service turned off PostgreSQL's JIT compiler, these requests took 6.0, 7.2, 1.9, 2.1 and 3.9 s, in this order. The remaining time of the first request is for the cells: 9,600 roll-ups of 100 checks, each on a separate database page. The time until the first check is shown has not been measured on an idle machine yet.",
  programs: ['chromium'],
  async run(context) {
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
  { short, rounds, progress }: PartContext,
): Promise<readonly Measured[]> {
  const config = storeConfig({ databaseUrl, statementTimeoutMs: TIMEOUT_MS });
  const store = await openStore(config, { clock: systemClock, log: silentLog() });
  await migrate(store, silentLog());
  const service = await startDashboardService(store);
  try {
    const account = await newDashboardAccount(service);
    const checks = short ? SHORT_CHECKS : CHECKS;
    progress(`making ${checks.toLocaleString('en')} checks`);
    await addManyChecks(account, service, checks);
    await addRollUps(store, account.accountId);
    const { app, features } = service;
    const { accountId } = account;
    return [
      ...(await measureOverview({ service: app, features, accountId, checks, rounds, progress })),
      ...(await measurePaint(service, account, { checks, rounds, progress })),
    ];
  } finally {
    await service.close();
  }
}

async function measurePaint(
  service: DashboardService,
  account: DashboardAccount,
  {
    checks,
    rounds,
    progress,
  }: Pick<PartContext, 'rounds' | 'progress'> & { readonly checks: number },
): Promise<readonly Measured[]> {
  progress('overview: paint');
  const browser = await launchBrowser();
  try {
    const views: View[] = [];
    // The first one fills the caches of the database.
    for (let round = 0; round <= rounds; round += 1) {
      const { page, context } = await openDashboardPage(browser, service, account);
      await page.goto(`${service.url}/`);
      await page.locator('.overview-name a').first().waitFor();
      views.push(await page.evaluate<View>(VIEW));
      await context.close();
    }
    const of = (value: (view: View) => number) => views.slice(1).map(value);
    const name = `of ${checks.toLocaleString('en')} checks`;
    const target = { of: 'value', bound: 'at most', number: PAINT_LIMIT_MS } as const;
    return [
      {
        measure: `Overview: first paint, ${name}`,
        values: of(({ paintMs }) => paintMs),
        unit: 'ms',
        target,
      },
      {
        measure: `Overview: the first check is shown, ${name}`,
        values: of(({ shownMs }) => shownMs),
        unit: 'ms',
        target,
      },
      {
        measure: `Overview: memory of the scripts, ${name}`,
        values: of(({ bytes }) => bytes / BYTES_OF_MB),
        unit: 'MB',
        target: { of: 'value', bound: 'at most', number: MEMORY_LIMIT_MB },
      },
      {
        measure: 'Overview: first load of page, scripts and styles, compressed',
        values: of(({ loadBytes }) => loadBytes / BYTES_OF_KB),
        unit: 'KB',
        target: { of: 'value', bound: 'at most', number: LOAD_LIMIT_KB },
      },
      {
        measure: `Overview: answers of the API for the first screen, compressed, ${name}`,
        values: of(({ answerBytes }) => answerBytes / BYTES_OF_KB),
        unit: 'KB',
        target: { of: 'value', bound: 'at most', number: ANSWERS_LIMIT_KB },
      },
    ];
  } finally {
    await browser.close();
  }
}

interface View {
  /** From the navigation, in milliseconds. */
  readonly paintMs: number;
  readonly shownMs: number;
  /** Bytes of the heap of the scripts. */
  readonly bytes: number;
  /** Bytes as they were sent. */
  readonly loadBytes: number;
  readonly answerBytes: number;
}

const VIEW = `({
  loadBytes: [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')),
  ].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  answerBytes: performance.getEntriesByType('resource')
    .filter(({ name }) => name.includes('/v1/'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now(),
  shownMs: performance.now(),
  bytes: performance.memory.usedJSHeapSize,
})`;
