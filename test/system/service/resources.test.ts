import { accountResourcesSuite } from '../../support/service-suites/account-resources-suite.ts';
import { apiKeysSuite } from '../../support/service-suites/api-keys-suite.ts';
import { checkGroupsSuite } from '../../support/service-suites/check-groups-suite.ts';
import { checksSuite } from '../../support/service-suites/checks-suite.ts';
import { clientCertificatesSuite } from '../../support/service-suites/client-certificates-suite.ts';
import { maintenanceWindowsSuite } from '../../support/service-suites/maintenance-windows-suite.ts';
import { privateLocationsSuite } from '../../support/service-suites/private-locations-suite.ts';
import { testSessionsSuite } from '../../support/service-suites/test-sessions-suite.ts';

accountResourcesSuite('postgres');
apiKeysSuite('postgres');
checkGroupsSuite('postgres');
checksSuite('postgres');
clientCertificatesSuite('postgres');
maintenanceWindowsSuite('postgres');
privateLocationsSuite('postgres');
testSessionsSuite('postgres');
