import { missedSlotsSuite } from '../../support/service-suites/missed-slots-suite.ts';

missedSlotsSuite('pglite');
