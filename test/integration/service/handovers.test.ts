import { handoversSuite } from '../../support/service-suites/handovers-suite.ts';

handoversSuite('pglite');
