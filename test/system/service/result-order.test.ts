import { resultOrderSuite } from '../../support/service-suites/result-order-suite.ts';

resultOrderSuite('pglite');
