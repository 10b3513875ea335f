import { databasesToTest } from '../../support/nightly.ts';
import { hostileSuite } from '../../support/service-suites/hostile-suite.ts';

for (const kind of databasesToTest('pglite')) hostileSuite(kind);
