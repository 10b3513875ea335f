import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Handbook, loadHandbook } from '../handbook/handbook.ts';
import type { Plans } from '../model/account/plan.ts';
import type { NotificationAttempt } from '../model/alerting/notification-attempt.ts';
import { systemClock } from '../runtime/clock.ts';
import type { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { isLoopbackHost } from '../runtime/net/loopback.ts';
import type { SecretBox } from '../runtime/secret-box.ts';
import { VERSION } from '../runtime/version.ts';
import { loadPlans } from './accounts/account-config.ts';
import { isWithoutAccount, makeFirstAccount } from './accounts/first-account.ts';
import { createLocationWake } from './agents/assignment/location-wake.ts';
import { apiRoutes } from './api-routes.ts';
import type { ServiceConfig } from './config.ts';
import { createDatabaseClock } from './database/database-clock.ts';
import { DatabaseWait } from './database/database-wait.ts';
import { createListEpochs } from './database/lists/list-epochs.ts';
import { migrate } from './database/migrate.ts';
import type { Store } from './database/store.ts';
import type { Features } from './feature-types.ts';
import { createFeatures } from './features.ts';
import { buildApp } from './http/app.ts';
import { InFlight } from './http/in-flight.ts';
import { closeApp, expectFreePort, listen } from './http/listen.ts';
import { openArtifactStore } from './object-store/artifacts-config.ts';
import { withStore } from './operator/open-service-store.ts';
import { ServiceLinkBase } from './outgoing/link-base.ts';
import { createCredentialSealing } from './secrets/credential-sealing.ts';
import { openSecretBox } from './secrets/encryption-key.ts';
import type { OwnersLinks } from './users/owners-links.ts';
import { SETUP_LINK_HOURS } from './users/setup.ts';

export interface ServiceParts {
  readonly config: ServiceConfig;
  readonly log: Logger;
  readonly stop: Pick<StopSignals, 'stopping' | 'now'>;
  /** Called once, when the service answers requests. */
  readonly onListening: (port: number, links: OwnersLinks) => void;
  /** Called for each attempt to send a notification, to print it on the owner's terminal. Default: not called. */
  readonly onAttempt?: (attempt: NotificationAttempt) => void;
  /** Whether `onListening` prints links on the owner's terminal. Otherwise the setup link is logged. */
  readonly hasOwnersTerminal: boolean;
}

/**
 * The service's composition root: opens and migrates the database, and answers requests until
 * `stop.stopping` aborts. Waits for PostgreSQL if it is unavailable at the start.
 *
 * | state | entered by | readiness | requests |
 * |---|---|---|---|
 * | starting | – | no answer | none: the port is not open |
 * | running | the port is open | 200 | answered |
 * | draining | `stop.stopping` | 503 | answered, while earlier ones are in progress |
 * | closing | no earlier request is left, or `stop.now` | no answer | the last ones end, then the store closes |
 *
 * @throws VedetteError where the configuration, the database, the port or the handbook is unusable
 */
export async function runService(parts: ServiceParts): Promise<void> {
  const { config, log } = parts;
  const plans = await loadPlans(config.plansFile);
  const handbook = await loadHandbook();
  await expectFreePort(config);
  if (config.databaseUrl === null) return await run(parts, handbook, plans, null);
  const wait = new DatabaseWait({ clock: systemClock, log, signal: parts.stop.stopping });
  await wait.retry(() => run(parts, handbook, plans, wait));
}

/** @param wait to report to; null for the embedded database */
async function run(
  parts: ServiceParts,
  handbook: Handbook,
  plans: Plans,
  wait: DatabaseWait | null,
): Promise<void> {
  const { config, log, stop } = parts;
  const onListening: ServiceParts['onListening'] = (port, links) => {
    wait?.started();
    parts.onListening(port, links);
  };
  const use = async (store: Store): Promise<void> => {
    await migrate(store, log);
    const epochs = createListEpochs({ store, clock: systemClock, log });
    await epochs.renew();
    await openFirstAccount(store, config, log);
    const clock = createDatabaseClock({ store, clock: systemClock, log });
    await clock.set();
    const secrets = await secretBoxOf(store, config);
    const sealing = createCredentialSealing({ store, clock, log, secrets });
    await sealing.begin();
    // Before the artifact store opens: if DATABASE_DIRECT_URL is unavailable, this throws and the start is repeated.
    const wake = await createLocationWake(store, clock);
    wait?.answered();
    const contents = await openArtifactStore(
      { ...config.artifacts, dataDir: config.dataDir, proxies: config.delivery.proxies },
      { clock, log },
    );
    const shared = { store, clock, log, ids: randomUUID, wake, contents, plans, secrets };
    const linkBase = new ServiceLinkBase(config.publicUrl);
    const listensAt = (port: number): void => {
      // The owner reads notifications on this machine; nobody else could follow such links.
      if (parts.hasOwnersTerminal && config.host !== null) linkBase.listensAt(config.host, port);
    };
    // Notifications that an earlier process left are sent before the port is open.
    listensAt(config.port);
    const sealsCredentials = sealing.isOn;
    const isOnDemand = parts.hasOwnersTerminal;
    const features = createFeatures({
      ...shared,
      config,
      linkBase,
      isOnDemand,
      ...(parts.onAttempt === undefined ? {} : { onAttempt: parts.onAttempt }),
      sealsCredentials,
    });
    const ended = new AbortController();
    const work = Promise.all([
      features.work(ended.signal),
      clock.maintain(ended.signal),
      epochs.maintain(ended.signal),
      sealing.maintain(ended.signal),
    ]);
    try {
      await serve({ ...parts, onListening, listensAt }, store, features, handbook);
    } finally {
      ended.abort();
      await work;
      await wake.close();
      await contents.close();
    }
  };
  await withStore(config, log, use, stop.stopping);
}

/** Answers requests until `stop.stopping` aborts. */
async function serve(
  parts: ServiceParts & { readonly listensAt: (port: number) => void },
  store: Store,
  features: Features,
  handbook: Handbook,
): Promise<void> {
  const { config, log, stop } = parts;
  const inFlight = new InFlight();
  const app = await buildApp({
    store,
    clock: systemClock,
    log,
    config,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    idempotency: features.idempotency,
    auditLog: features.auditLog,
    sessions: features.sessions.cache,
    serviceAddress: features.serviceAddress,
    pathOf: features.statusSite.domains.pathOf,
    routes: apiRoutes(features, stop.stopping),
    handbook,
    inFlight,
    stopping: stop.stopping,
    counts: features.counts,
    takesResults: () => features.resultStorage.takes(),
  });
  try {
    if (stop.stopping.aborted) return;
    const port = await listen(app, config);
    parts.listensAt(port);
    const signInUrl = await newSignInUrl(parts, features, port);
    const setupUrl = signInUrl === null ? await newSetupUrl(parts, features, port) : null;
    const logsSetup = setupUrl !== null && !parts.hasOwnersTerminal;
    if (logsSetup) await logSetupUrl(store, setupUrl, log);
    log.info({ port, version: VERSION, database: store.kind }, 'the API is served');
    parts.onListening(port, { signInUrl, setupUrl: logsSetup ? null : setupUrl });
    await aborted(stop.stopping);
    if (inFlight.size > 0) log.info({ requests: inFlight.size }, 'waiting for requests to end');
  } finally {
    await closeApp(app, inFlight, stop.now);
  }
}

/**
 * Creates the link with which the owner of the terminal signs in; null if the service can be reached from other
 * machines, or a proxy may publish it.
 */
async function newSignInUrl(
  { config: { host, publicUrl, firstApiKey }, hasOwnersTerminal }: ServiceParts,
  { signInLink }: Pick<Features, 'signInLink'>,
  port: number,
): Promise<string | null> {
  if (!hasOwnersTerminal || host === null || firstApiKey === null) return null;
  if (!isLoopbackHost(host) || publicUrl !== null) return null;
  const token = await signInLink.create(firstApiKey);
  return token === null ? null : `http://${inUrl(host)}:${port}/sign-in/${token}`;
}

/** Creates the link with which the first user is created; null if there is a user already. */
async function newSetupUrl(
  { config: { host }, hasOwnersTerminal }: ServiceParts,
  { setup, serviceAddress }: Pick<Features, 'setup' | 'serviceAddress'>,
  port: number,
): Promise<string | null> {
  const token = await setup.newLink(hasOwnersTerminal ? 'owner' : 'log');
  if (token === null) return null;
  const base = serviceAddress.baseUrl({
    protocol: 'http',
    host: `${inUrl(host ?? 'localhost')}:${port}`,
  });
  return `${base}/setup/${token}`;
}

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

async function logSetupUrl(store: Store, url: string, log: Logger): Promise<void> {
  // Without an account the service cannot be used. With an account, users may not be wanted.
  const level = (await isWithoutAccount(store)) ? 'warn' : 'info';
  log[level](
    { url },
    `there is no user yet: open this link within ${SETUP_LINK_HOURS} hours to make the first one, an admin; it works once`,
  );
}

async function openFirstAccount(
  store: Store,
  { firstApiKey }: Pick<ServiceConfig, 'firstApiKey'>,
  log: Logger,
): Promise<void> {
  if (firstApiKey === null) {
    return;
  }
  const became = await makeFirstAccount(
    { store, clock: systemClock, ids: randomUUID },
    firstApiKey,
  );
  if (became === 'made') log.info('created the first account with the key of FIRST_API_KEY');
  if (became === 'unused') {
    log.warn(
      'FIRST_API_KEY is not used: the database has an account already, and no such key; unset it',
    );
  }
}

function secretBoxOf(
  { kind }: Store,
  { encryptionKeys: keys, dataDir }: ServiceConfig,
): Promise<SecretBox | null> {
  return openSecretBox({ keys, dataDir, isEmbedded: kind === 'pglite' });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
