import { storeFaultSuite } from './support/store/store-suite.ts';

// One connection, so what stalls within a transaction only keeps all others waiting.
await storeFaultSuite('pglite', (faults) =>
  faults.filter(({ kind, place }) => kind !== 'stalled' || place !== 'statement'),
);
