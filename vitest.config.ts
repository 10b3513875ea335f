import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { UNOPTIMIZED_WASM } from './test/support/process/unoptimized-wasm.ts';

/** Files follow each other in a process: with more room for new objects it collects garbage less often. */
const FEW_COLLECTIONS = '--max-semi-space-size=64';

const shared = {
  globalSetup: ['test/support/process/build.ts'],
  // Against a test that hangs. To start a database takes a second, and twenty on a busy machine.
  testTimeout: 60_000,
  // Hooks start whole services with all that they serve: on a busy machine that takes minutes.
  hookTimeout: 300_000,
  restoreMocks: true,
  // The error's line in a report shows what was found, not only how many.
  chaiConfig: { truncateThreshold: 300 },
  setupFiles: ['test/support/seeded.ts'],
  execArgv: [UNOPTIMIZED_WASM],
};
const PGLITE = 'test/support/database/prepare-pglite.ts';
const POSTGRES = 'test/support/database/prepare-postgres.ts';
const WORKERS = 2;
const IS_NIGHTLY = process.env.NIGHTLY === '1';

/**
 * Suites of the service for both databases stand with their feature, and get their databases from
 * the project. By day most run on one of them only: the statements are the same.
 */
const ON_BOTH = 'test/integration/service/**/*.databases.test.ts';
/** The features: a statement takes the embedded database several times as much CPU. And concurrency. */
const ON_POSTGRES_BY_DAY = 'test/integration/service/**/*.postgres.test.ts';

/**
 * Projects run one after the other (`groupOrder`): a worker loads the code of one project once, and
 * a test meets the load of its own project only.
 */
export default defineConfig({
  test: {
    // One fewer than cores is the default, which on two cores is one: some of the time is waiting.
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    // Transformed once for all projects and runs: most of a run's start was this.
    experimental: { fsModuleCache: true },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.{ts,tsx}'],
      reporter: ['text-summary', 'json-summary', 'html'],
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          execArgv: [UNOPTIMIZED_WASM, FEW_COLLECTIONS],
          // They start no program, so nothing is built for them.
          globalSetup: [],
          include: ['test/unit/**/*.test.{ts,tsx}'],
          // They share no state, and a process for each file would take most of the time.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          execArgv: [UNOPTIMIZED_WASM, FEW_COLLECTIONS],
          provide: { databases: ['pglite'] },
          include: ['test/integration/**/*.test.ts'],
          exclude: IS_NIGHTLY ? [] : [ON_POSTGRES_BY_DAY],
          // Each file would load all of the service anew, which takes longer than its tests.
          isolate: false,
          globalSetup: [...shared.globalSetup, PGLITE],
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          // The service on PostgreSQL.
          name: 'postgres',
          provide: { databases: ['postgres'] },
          include: [
            ON_BOTH,
            ON_POSTGRES_BY_DAY,
            'test/system/service/**/*.test.ts',
            'test/system/store*.test.ts',
          ],
          isolate: false,
          globalSetup: [...shared.globalSetup, PGLITE, POSTGRES],
          testTimeout: 300_000,
          // Some of the time they wait for the server, or for other processes.
          maxWorkers: WORKERS + 1,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...shared,
          name: 'system',
          include: ['test/system/*.test.ts', 'test/system/{docker,survival}/**/*.test.ts'],
          exclude: ['test/system/store*.test.ts'],
          // Each file would load the database drivers, the wire formats and its tools anew.
          isolate: false,
          globalSetup: [...shared.globalSetup, PGLITE, POSTGRES],
          testTimeout: 300_000,
          // Most of their time they wait for processes, timers and retries.
          maxWorkers: WORKERS + 2,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...shared,
          // The built program as a process, also with few descriptors.
          name: 'cli',
          include: ['test/system/cli/**/*.test.ts'],
          isolate: false,
          globalSetup: [...shared.globalSetup, PGLITE],
          testTimeout: 300_000,
          maxWorkers: WORKERS + 2,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...shared,
          // Pages in Chromium.
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: [
            ...shared.globalSetup,
            PGLITE,
            POSTGRES,
            'test/browser/support/prepare-browser.ts',
          ],
          testTimeout: 300_000,
          // Against a page that never shows it: on a busy machine a page takes seconds.
          expect: { poll: { timeout: 60_000 } },
          // Each file would load all of the service anew.
          isolate: false,
          sequence: { groupOrder: 8 },
        },
      },
      {
        test: {
          ...shared,
          name: 'containers',
          include: ['test/system/containers/**/*.test.ts'],
          globalSetup: [
            ...shared.globalSetup,
            PGLITE,
            POSTGRES,
            'test/support/containers/setup.ts',
          ],
          testTimeout: 300_000,
          // Only one Podman host at a time can use the folder of images.
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          ...shared,
          // Fuzzing, and faults at every call.
          name: 'break',
          include: ['test/break/{fuzz,faults}/**/*.test.ts'],
          globalSetup: [...shared.globalSetup, PGLITE, POSTGRES],
          testTimeout: 300_000,
          sequence: { groupOrder: 6 },
        },
      },
      {
        test: {
          ...shared,
          // A storm and a soak: they measure, so nothing runs beside them.
          name: 'endurance',
          include: ['test/break/*.test.ts'],
          globalSetup: [...shared.globalSetup, PGLITE],
          testTimeout: 300_000,
          fileParallelism: false,
          sequence: { groupOrder: 7 },
        },
      },
    ],
  },
});
