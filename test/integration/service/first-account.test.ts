import { firstAccountSuite } from '../../support/service-suites/first-account-suite.ts';

firstAccountSuite('pglite');
