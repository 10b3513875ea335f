import { apiKeysSuite } from '../../support/service-suites/api-keys-suite.ts';
import { checkGroupsSuite } from '../../support/service-suites/check-groups-suite.ts';
import { checksSuite } from '../../support/service-suites/checks-suite.ts';
import { privateLocationsSuite } from '../../support/service-suites/private-locations-suite.ts';

apiKeysSuite('postgres');
checkGroupsSuite('postgres');
checksSuite('postgres');
privateLocationsSuite('postgres');
