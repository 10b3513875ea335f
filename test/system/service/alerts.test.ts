import { alertPathSuite } from '../../support/service-suites/alert-path-suite.ts';
import { alertsSuite } from '../../support/service-suites/alerts-suite.ts';

alertPathSuite('postgres');
alertsSuite('postgres');
