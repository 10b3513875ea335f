import { checkRunsSuite } from '../../support/service-suites/check-runs-suite.ts';

checkRunsSuite('pglite');
