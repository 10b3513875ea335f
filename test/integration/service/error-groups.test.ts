import { errorGroupsSuite } from '../../support/service-suites/error-groups-suite.ts';

errorGroupsSuite('pglite');
