import { sampleOf } from './support/store-plan.ts';
import { SEED, storeFaultSuite } from './support/store-suite.ts';

await storeFaultSuite('postgres', sampleOf(SEED));
