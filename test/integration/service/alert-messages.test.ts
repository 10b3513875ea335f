import { alertMessagesSuite } from '../../support/service-suites/alert-messages-suite.ts';

alertMessagesSuite('pglite');
