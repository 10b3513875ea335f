import { storeFaultSuite } from './support/store/store.suite.ts';

// One connection: a stall inside a transaction only makes all others wait.
await storeFaultSuite('pglite', (faults) =>
  faults.filter(({ kind, place }) => kind !== 'stalled' || place !== 'statement'),
);
