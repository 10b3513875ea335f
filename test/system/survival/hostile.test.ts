import { databasesToTest } from '../../support/nightly.ts';
import { hostileSuite } from './hostile.suite.ts';

for (const kind of databasesToTest('pglite')) hostileSuite(kind);
