import { IS_NIGHTLY } from '../../support/nightly.ts';
import { type Choice, onceEach } from './support/store/plan.ts';
import { SEED, storeFaultSuite } from './support/store/store.suite.ts';

// All of them take a quarter of an hour. By day they differ from those on PostgreSQL by their seed.
const choose: Choice = IS_NIGHTLY ? (all) => all : onceEach(SEED + 1, 0);

// One connection: a stall inside a transaction only makes all others wait.
await storeFaultSuite('pglite', (faults, failed) =>
  choose(
    faults.filter(({ kind, place }) => kind !== 'stalled' || place !== 'statement'),
    failed,
  ),
);
