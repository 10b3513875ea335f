import { defineConfig } from 'vitest/config';

const shared = {
  globalSetup: ['test/support/build.ts'],
  testTimeout: 20_000,
  hookTimeout: 20_000,
  restoreMocks: true,
};

export default defineConfig({
  test: {
    // One fewer than cores is the default, which on two cores is one: some of the time is waiting.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // They share no state, and a process for each file would take most of the time.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: ['test/integration/service/**'],
          isolate: false,
          globalSetup: [...shared.globalSetup, 'test/support/prepare-pglite.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'service',
          include: ['test/integration/service/**/*.test.ts'],
          // Each file would load all of the service anew, which takes longer than its tests.
          isolate: false,
          globalSetup: [...shared.globalSetup, 'test/support/prepare-pglite.ts'],
        },
      },
      {
        test: {
          ...shared,
          // Fuzzing, faults at every call, storm and soak.
          name: 'break',
          include: ['test/break/**/*.test.ts'],
          globalSetup: [
            ...shared.globalSetup,
            'test/support/prepare-pglite.ts',
            'test/support/prepare-postgres.ts',
          ],
          testTimeout: 300_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          globalSetup: [
            ...shared.globalSetup,
            'test/support/prepare-pglite.ts',
            'test/support/prepare-postgres.ts',
            'test/support/containers/setup.ts',
          ],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
