import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import type { Role } from '../../../src/model/enums.ts';
import { openMigratedStore } from '../../support/database/databases.ts';
import { useBrowser } from './browser.ts';
import {
  type DashboardAccount,
  type DashboardService,
  newDashboardAccount,
  type OpenDashboard,
  openDashboardPage,
  startDashboardService,
  type View,
} from './dashboard-service.ts';

export interface DashboardFixture {
  readonly service: () => DashboardService;
  newAccount(role?: Role): Promise<DashboardAccount>;
  /** A window in which the user of the account is signed in. It is closed with the test. */
  open(account: DashboardAccount, view?: View): Promise<OpenDashboard>;
}

/** For a describe block: one service, and the browser of this run. */
export function useDashboard(): DashboardFixture {
  const browser = useBrowser();
  let started: DashboardService | null = null;
  beforeAll(async () => {
    // PostgreSQL takes a fraction of the embedded database's CPU time.
    const kind = inject('postgres') === null ? 'pglite' : 'postgres';
    started = await startDashboardService(await openMigratedStore(kind));
  });
  afterAll(async () => {
    await started?.close();
  });
  const service = (): DashboardService => {
    if (started === null) throw new Error('the service is for tests: it starts before the first');
    return started;
  };
  return {
    service,
    newAccount: (role) => newDashboardAccount(service(), role),
    async open(account, view) {
      const opened = await openDashboardPage(browser(), service(), account, view);
      onTestFinished(() => opened.context.close());
      return opened;
    },
  };
}
