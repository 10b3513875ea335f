import { SEED, storeFaultSuite } from './support/store/store.suite.ts';
import { sampleOf } from './support/store/store-plan.ts';

await storeFaultSuite('postgres', sampleOf(SEED));
