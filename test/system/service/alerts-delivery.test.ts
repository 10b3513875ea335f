import { alertChannelsSuite } from '../../support/service-suites/alert-channels-suite.ts';
import { alertDeliverySuite } from '../../support/service-suites/alert-delivery-suite.ts';
import { alertMessagesSuite } from '../../support/service-suites/alert-messages-suite.ts';

alertChannelsSuite('postgres');
alertDeliverySuite('postgres');
alertMessagesSuite('postgres');
