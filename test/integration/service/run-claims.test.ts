import { runClaimsPropertySuite } from '../../support/service-suites/run-claims-property-suite.ts';

runClaimsPropertySuite('pglite');
