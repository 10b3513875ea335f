import { alertDeliverySuite } from '../../support/service-suites/alert-delivery-suite.ts';

alertDeliverySuite('pglite');
