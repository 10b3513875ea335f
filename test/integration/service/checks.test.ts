import { checksSuite } from '../../support/service-suites/checks-suite.ts';

checksSuite('pglite');
