import { IS_NIGHTLY } from '../../support/nightly.ts';
import { onceEach, sampleOf } from './support/store/plan.ts';
import { SEED, storeFaultSuite } from './support/store/store.suite.ts';

const SHARE_OF_OTHERS = 0.05;

// In every scenario where an operation is called, the same faults take six minutes. By day it fails in one.
const choose = IS_NIGHTLY ? sampleOf(SEED, SHARE_OF_OTHERS) : onceEach(SEED, SHARE_OF_OTHERS);

await storeFaultSuite('postgres', choose);
