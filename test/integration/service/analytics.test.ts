import { analyticsSuite } from '../../support/service-suites/analytics-suite.ts';

analyticsSuite('pglite');
