import { statusPagesSuite } from '../../support/service-suites/status-pages-suite.ts';

statusPagesSuite('pglite');
