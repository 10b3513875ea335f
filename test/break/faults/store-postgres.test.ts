import { sampleOf } from './support/store/store-plan.ts';
import { SEED, storeFaultSuite } from './support/store/store-suite.ts';

await storeFaultSuite('postgres', sampleOf(SEED));
