import { alertsSuite } from '../../support/service-suites/alerts-suite.ts';

alertsSuite('postgres');
