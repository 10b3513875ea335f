import { privateLocationsSuite } from '../../support/service-suites/private-locations-suite.ts';

privateLocationsSuite('pglite');
