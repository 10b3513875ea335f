import { testSessionsSuite } from '../../support/service-suites/test-sessions-suite.ts';

testSessionsSuite('pglite');
