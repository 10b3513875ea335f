import { locationTrustSuite } from '../../support/service-suites/location-trust-suite.ts';

locationTrustSuite('pglite');
