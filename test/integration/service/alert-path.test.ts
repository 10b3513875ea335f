import { alertPathSuite } from '../../support/service-suites/alert-path-suite.ts';

alertPathSuite('pglite');
