import { stat } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { type Clock, systemClock } from '../../../../../src/runtime/clock.ts';
import { createLogger, type Logger } from '../../../../../src/runtime/logger.ts';
import { apiRoutes } from '../../../../../src/service/api-routes.ts';
import type { Store } from '../../../../../src/service/database/store.ts';
import { StoreError } from '../../../../../src/service/database/store-errors.ts';
import type { Features } from '../../../../../src/service/feature-types.ts';
import type { ArtifactStore } from '../../../../../src/service/object-store/artifact-store.ts';
import { openArtifactStore } from '../../../../../src/service/object-store/artifacts-config.ts';
import {
  type DatabaseKind,
  openMigratedStore,
  silentLog,
} from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { startServiceApp } from '../../../../support/service/service-app.ts';
import { type TestFeatures, testFeatures } from '../../../../support/service/service-features.ts';
import { FaultStore } from './faults.ts';
import { openHook, type StoreHook } from './hook.ts';
import { asLoop } from './loops.ts';

const MINUTE_MS = 60_000;
const HELD_MS = 250;
/** Event loop iterations without any beginning or end: then nothing more will happen by itself. */
const QUIET_TURNS = 12;
/** The same while a request is in flight, which may wait for a file. */
const PATIENT_TURNS = 400;

/**
 * One service over one database: HTTP, features, all loops, and a manual clock. Serves many cases,
 * like a service that survives many faults.
 */
export interface FaultService {
  /** The real database, for the tests themselves. */
  readonly store: Store;
  /** The service's store, which injects faults. */
  readonly faulty: FaultStore;
  readonly clock: FakeClock;
  readonly hook: StoreHook;
  readonly port: number;
  /** The running service's. */
  features(): Features;
  /** Waits while everything that can continue does so. */
  turn(): Promise<void>;
  /** Resolves when nothing stalls. */
  calm(): Promise<void>;
  /** Resolves when nothing more happens by itself. */
  quiet(): Promise<void>;
  /** Waits for real sockets and the database, and advances the clock if they wait for it. */
  drive<T>(work: Promise<T>): Promise<T>;
  /** Ends the loops; the service's memory is lost. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  /** The next requested content has just disappeared. */
  loseContent(): void;
  /** The service's error log since the last call. */
  takeErrors(): readonly string[];
  close(): Promise<void>;
}

export async function openFaultService(kind: DatabaseKind): Promise<FaultService> {
  const store = await openMigratedStore(kind, kind === 'pglite' ? WITHOUT_BACKOFF : systemClock);
  const clock = new FakeClock(Math.floor(systemClock.wallMs() / MINUTE_MS) * MINUTE_MS);
  const faulty = new FaultStore(store);
  const hook = await openHook();
  const errors = errorLog();
  const contents = await openForgetful(clock);
  const start = (): Promise<TestFeatures> =>
    testFeatures(faulty, clock, { log: errors.log, contents });
  let running = await start();
  let ending = new AbortController();
  let work: Promise<void> = Promise.resolve();

  const still = async (turns: number, isOver: () => boolean): Promise<void> => {
    let seen = faulty.steps;
    for (let turn = 0; turn < turns && !isOver(); turn += 1) {
      await eventLoopTurn();
      const isFileAwaited = turn === turns - 1 && areFilesAwaited();
      // It runs after the threads' current work.
      if (isFileAwaited) await stat(import.meta.dirname);
      // A waiter for a stalled transaction stays open without progress.
      const isStill = faulty.steps === seen && (faulty.open === 0 || faulty.isStalled);
      if (isStill && !isFileAwaited) continue;
      seen = faulty.steps;
      turn = 0;
    }
  };
  const drive = async <T>(doing: Promise<T>): Promise<T> => {
    let isOver = false;
    const end = doing.finally(() => {
      isOver = true;
    });
    end.catch(() => {});
    while (!isOver) {
      await still(PATIENT_TURNS, () => isOver);
      if (!isOver && !faulty.isStalled) await clock.advance(HELD_MS);
    }
    return end;
  };
  const stopService = async (): Promise<void> => {
    ending.abort();
    await drive(work);
    await running.close();
  };
  const begin = (features: TestFeatures): void => {
    running = features;
    ending = new AbortController();
    work = asLoop(() => features.features.work(ending.signal));
  };

  const features = featuresOfNow(running.features, () => running.features);
  const app = await startServiceApp(apiRoutes(features, new AbortController().signal), {
    store: faulty,
    clock,
    log: errors.log,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    auditLog: features.auditLog,
    config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
  });
  begin(running);
  return {
    store,
    faulty,
    clock,
    hook,
    port: app.port,
    features: () => running.features,
    // The embedded database runs everything in this thread.
    turn: kind === 'pglite' ? eventLoopTurn : async () => void (await store.query('select 1')),
    async calm() {
      do {
        while (faulty.isStalled) await eventLoopTurn();
        await still(QUIET_TURNS, () => false);
      } while (faulty.isStalled);
    },
    quiet: () => still(QUIET_TURNS, () => false),
    drive,
    stopService,
    async startService() {
      begin(await untilItStarts(start));
    },
    loseContent: contents.loseNext,
    takeErrors: errors.take,
    async close() {
      await stopService();
      await app.close();
      await hook.close();
      await contents.close();
      await store.close();
    },
  };
}

/** Where one transaction runs at a time, another try need not wait for the others. */
const WITHOUT_BACKOFF: Clock = {
  ...systemClock,
  after: (_, callback) => systemClock.after(0, callback),
};

/** Separate threads read and write files, in real time. */
function areFilesAwaited(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const STARTS = 5;

/** A process that cannot start ends, and its supervisor restarts it. */
async function untilItStarts(start: () => Promise<TestFeatures>): Promise<TestFeatures> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === STARTS || !(error instanceof StoreError)) throw error;
    }
  }
}

/** Real contents of artifacts; one can be missing when it is read. */
async function openForgetful(
  clock: FakeClock,
): Promise<ArtifactStore & { readonly loseNext: () => void }> {
  const real = await openArtifactStore({ s3: null, dataDir: null }, { clock, log: silentLog() });
  let isToBeLost = false;
  return Object.assign(Object.create(real), {
    loseNext() {
      isToBeLost = true;
    },
    async stat(...asked: Parameters<ArtifactStore['stat']>) {
      if (isToBeLost) await real.remove(...asked);
      isToBeLost = false;
      return real.stat(...asked);
    },
  });
}

/** The features of the running service, for routes that are registered once. */
function featuresOfNow(first: Features, now: () => Features): Features {
  const entries = Object.entries(first).map(([name, value]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name, value];
    const handler = {
      get(_: object, method: string | symbol): unknown {
        const feature: object = Reflect.get(now(), name);
        const found: unknown = Reflect.get(feature, method);
        return typeof found === 'function' ? found.bind(feature) : found;
      },
    };
    return [name, new Proxy(value, handler)];
  });
  return Object.fromEntries(entries);
}

interface ErrorLog {
  readonly log: Logger;
  readonly take: () => readonly string[];
}

/** Stores only logged errors. */
function errorLog(): ErrorLog {
  const destination = new PassThrough({ encoding: 'utf8' });
  return {
    log: createLogger({ level: 'error', destination, format: 'json' }),
    take() {
      const written: unknown = destination.read();
      if (typeof written !== 'string') return [];
      return written.split('\n').filter((line) => line !== '');
    },
  };
}
