import { errorGroupsSuite } from '../../support/service-suites/error-groups-suite.ts';
import { missedSlotsSuite } from '../../support/service-suites/missed-slots-suite.ts';
import { resultIntakeSuite } from '../../support/service-suites/result-intake-suite.ts';
import { resultListSuite } from '../../support/service-suites/result-list-suite.ts';
import { resultOrderSuite } from '../../support/service-suites/result-order-suite.ts';
import { secretScrubbingSuite } from '../../support/service-suites/secret-scrubbing-suite.ts';

resultIntakeSuite('postgres');
resultListSuite('postgres');
missedSlotsSuite('postgres');
resultOrderSuite('postgres');
errorGroupsSuite('postgres');
secretScrubbingSuite('postgres');
