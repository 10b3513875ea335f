import { assignersSuite } from '../../support/service-suites/assigners-suite.ts';

assignersSuite('pglite');
