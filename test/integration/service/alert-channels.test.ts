import { alertChannelsSuite } from '../../support/service-suites/alert-channels-suite.ts';

alertChannelsSuite('pglite');
