import { IS_NIGHTLY } from '../../support/nightly.ts';
import { SEED, storeFaultSuite } from './support/store/store.suite.ts';
import { sampleOf } from './support/store/store-plan.ts';

// All of them take a quarter of an hour.
const choose = IS_NIGHTLY ? <T>(all: T): T => all : sampleOf(SEED);

// One connection: a stall inside a transaction only makes all others wait.
await storeFaultSuite('pglite', (faults) =>
  choose(faults.filter(({ kind, place }) => kind !== 'stalled' || place !== 'statement')),
);
