import { resultListSuite } from '../../support/service-suites/result-list-suite.ts';

resultListSuite('pglite');
