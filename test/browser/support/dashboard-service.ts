import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Page } from 'playwright-core';
import type { Role } from '../../../src/model/enums.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { Features } from '../../../src/service/feature-types.ts';
import { insertMembership, insertUser } from '../../../src/service/users/sql.ts';
import { type Reply, type ServiceApp, startServiceApp } from '../../support/service/service-app.ts';
import { testFeatures } from '../../support/service/service-features.ts';
import { axeViolations, type OpenPage, openPage, type Theme } from './browser.ts';

type Send = (path: string, body?: unknown) => Promise<Reply>;

/** A service with the dashboard, and the work that a service does in the background. */
export interface DashboardService {
  readonly url: string;
  readonly store: Store;
  readonly features: Features;
  readonly app: ServiceApp;
  /** Aborts when the service closes. */
  readonly stopping: AbortSignal;
  close(): Promise<void>;
}

/** An account with an admin key, and a user who may sign in. */
export interface DashboardAccount {
  readonly accountId: string;
  readonly userId: string;
  readonly email: string;
  readonly apiKey: string;
  /** Requests with the key. */
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
  readonly patch: Send;
  readonly delete: Send;
}

export interface OpenDashboard extends OpenPage {
  /** Opens a path of the dashboard, and waits until it shows a heading. */
  goto(path: string): Promise<void>;
  /** The violations that axe finds. */
  axe(): Promise<readonly string[]>;
  /** Expect it to be empty at the end of a test: errors of the console and of the policy, foreign requests. */
  faults(): readonly string[];
}

export interface View {
  readonly theme?: Theme;
  /** In pixels. */
  readonly width?: number;
}

/**
 * From source, at a free port of the loopback. The dashboard itself is built before.
 *
 * @param store with the schema of this release; it is closed with the service
 */
export async function startDashboardService(store: Store): Promise<DashboardService> {
  const { features, close: closeFeatures } = await testFeatures(store, systemClock);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const work = features.work(stopping.signal);
  const app = await startServiceApp(apiRoutes(features, stopping.signal), {
    store,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    idempotency: features.idempotency,
    auditLog: features.auditLog,
    sessions: features.sessions.cache,
    counts: features.counts,
    serviceAddress: features.serviceAddress,
    pathOf: features.statusSite.domains.pathOf,
    config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
    stopping: stopping.signal,
  });
  return {
    url: `http://127.0.0.1:${app.port}`,
    store,
    features,
    app,
    stopping: stopping.signal,
    async close() {
      stopping.abort();
      await app.close();
      await work;
      await closeFeatures();
      await store.close();
    },
  };
}

/** A new account of a service. `role` is the user's; the key is an admin's. */
export async function newDashboardAccount(
  { store, features, app }: DashboardService,
  role: Role = 'admin',
  name = 'Acme',
): Promise<DashboardAccount> {
  const [accountId, userId] = [randomUUID(), randomUUID()];
  const createdAtMs = Date.now();
  const email = `mira.${userId.slice(0, 8)}@example.com`;
  await insertAccount(store, { id: accountId, name, createdAtMs });
  await insertUser(store, { id: userId, email, passwordHash: null, createdAtMs });
  await insertMembership(store, { accountId, userId, role, createdAtMs });
  const { key: apiKey } = await features.apiKeys.create(accountId, {
    name: 'first',
    role: 'admin',
  });
  const send =
    (method: string): Send =>
    (path, body) =>
      app.ask(path, { key: apiKey, method, ...(body === undefined ? {} : { body }) });
  return {
    accountId,
    userId,
    email,
    apiKey,
    get: send('GET'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
  };
}

/** Signs the user of the account in, in a new window; the caller closes its context. */
export async function openDashboardPage(
  browser: Parameters<typeof openPage>[0],
  { url, features }: DashboardService,
  account: DashboardAccount,
  { theme = 'light', width = 1_440 }: View = {},
): Promise<OpenDashboard> {
  const opened = await openPage(browser, { theme, width });
  const { page, context, problems, requests } = opened;
  const client = { address: '127.0.0.1', userAgent: 'a test', device: null };
  const { token } = await features.sessions.start(account.userId, client, { kind: 'setup' });
  await context.addCookies([{ name: 'vedette_session', value: token, url, httpOnly: true }]);
  return {
    ...opened,
    async goto(path) {
      await page.goto(`${url}${path}`);
      await headingOf(page).waitFor();
    },
    axe: () => axeViolations(page),
    faults: () => [
      ...problems,
      ...requests
        .filter((asked) => !asked.startsWith('data:') && new URL(asked).origin !== url)
        .map((asked) => `a request to ${asked}`),
    ],
  };
}

/** The heading of the page that is shown. */
export function headingOf(page: Page) {
  return page.locator('main h1').first();
}
