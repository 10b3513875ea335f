import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import type { Role } from '../../../src/model/enums.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { Features } from '../../../src/service/feature-types.ts';
import { type DatabaseKind, openMigratedStore } from '../database/databases.ts';
import { FakeClock } from '../fake-clock.ts';
import { type Reply, type ServiceApp, startServiceApp } from './service-app.ts';
import { testFeatures } from './service-features.ts';

type Send = (path: string, body?: unknown) => Promise<Reply>;

/** A client of the API with one key. */
export interface Client {
  readonly accountId: string;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
  readonly patch: Send;
  readonly delete: Send;
  /** With headers. */
  ask(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Reply>;
}

/** The real app over a real database, with two separate accounts. */
export interface TestService {
  readonly store: Store;
  readonly clock: FakeClock;
  /** Two accounts, each with an admin key. */
  readonly mine: Client;
  readonly theirs: Client;
  /** Another key of the first account, made through the API. */
  clientWith(role: Role): Promise<Client>;
  /** A client with this key. */
  clientOf(key: string): Client;
  readonly features: Features;
}

/** A running service, and the parts that tests use. */
export interface RunningService {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly features: Features;
  readonly app: ServiceApp;
}

/**
 * For a describe block: starts one service. Returns a function for its tests and hooks.
 *
 * @param own replacements of the default parts
 */
export function useRunningService(
  kind: DatabaseKind,
  own: Parameters<typeof testFeatures>[2] = {},
): () => RunningService {
  let running: RunningService | null = null;
  let closeFeatures = async (): Promise<void> => {};
  beforeAll(async () => {
    const clock = new FakeClock();
    const started = await startOn(await openMigratedStore(kind), clock, own);
    closeFeatures = started.closeFeatures;
    running = started;
  });
  afterAll(async () => {
    await running?.app.close();
    await closeFeatures();
    await running?.store.close();
  });
  return () => {
    if (running === null) throw new Error('the service is for tests: it starts before the first');
    return running;
  };
}

/** Another replica of the service, on the same database. It ends with the test. */
export async function startReplica({ store, clock }: RunningService): Promise<RunningService> {
  const { closeFeatures, ...replica } = await startOn(store, clock);
  onTestFinished(async () => {
    await replica.app.close();
    await closeFeatures();
  });
  return replica;
}

async function startOn(
  store: Store,
  clock: FakeClock,
  own: Parameters<typeof testFeatures>[2] = {},
): Promise<RunningService & { readonly closeFeatures: () => Promise<void> }> {
  const { features, close: closeFeatures } = await testFeatures(store, clock, own);
  const app = await startServiceApp(apiRoutes(features, new AbortController().signal), {
    store,
    clock,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    idempotency: features.idempotency,
    auditLog: features.auditLog,
    sessions: features.sessions.cache,
    counts: features.counts,
    serviceAddress: features.serviceAddress,
    pathOf: features.statusSite.domains.pathOf,
    config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
  });
  return { store, clock, features, app, closeFeatures };
}

/** For a describe block: two accounts, new in each test or, with `shared`, in the block. */
export function useAccounts(
  runningOf: () => RunningService,
  lifetime: 'each test' | 'shared' = 'each test',
): () => TestService {
  let service: TestService | null = null;
  const renew = async (): Promise<void> => {
    const { store, clock, features, app } = runningOf();
    const accountWithKey = async (name: string): Promise<Client> => {
      const id = randomUUID();
      await insertAccount(store, { id, name, createdAtMs: clock.wallMs() });
      const { key } = await features.apiKeys.create(id, { name: 'first', role: 'admin' });
      return clientOf(app, id, key);
    };
    const mine = await accountWithKey('mine');
    service = {
      store,
      clock,
      features,
      mine,
      theirs: await accountWithKey('theirs'),
      clientOf: (key) => clientOf(app, mine.accountId, key),
      async clientWith(role) {
        const made = await mine.post('/v1/api-keys', { name: role, role });
        return clientOf(app, mine.accountId, made.json.key);
      },
    };
  };
  if (lifetime === 'shared') beforeAll(renew);
  else beforeEach(renew);
  return () => {
    if (service === null) throw new Error('the accounts are for tests: they come before the first');
    return service;
  };
}

function clientOf(app: ServiceApp, accountId: string, key: string): Client {
  const send =
    (method: string): Send =>
    (path, body) =>
      app.ask(path, { key, method, ...(body === undefined ? {} : { body }) });
  return {
    accountId,
    get: send('GET'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    ask: (method, path, body, headers) =>
      app.ask(path, { key, method, headers, ...(body === undefined ? {} : { body }) }),
  };
}

/** The problems of a 400, as `path message`. */
export function problemsIn(reply: Reply): readonly string[] {
  const problems: readonly { path: string; message: string }[] =
    reply.json?.attributes?.problems ?? [];
  return problems.map(({ path, message }) => `${path} ${message}`);
}

/** A text that does harm if it gets unescaped into a statement, a page or a format. */
export const HOSTILE = `'; drop table checks; -- " \\ $1 $$ %s %27 {{X}} <b> ‮ 😀 \u001b[31m\r\n\t${'é'}`;
