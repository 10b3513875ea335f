import { checkGroupsSuite } from '../../support/service-suites/check-groups-suite.ts';

checkGroupsSuite('pglite');
