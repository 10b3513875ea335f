import { SEED, storeFaultSuite } from './support/store/store.suite.ts';
import { sampleOf } from './support/store/store-plan.ts';

const SHARE_OF_OTHERS = 0.05;

await storeFaultSuite('postgres', sampleOf(SEED, SHARE_OF_OTHERS));
