import { checkRunsSuite } from '../../support/service-suites/check-runs-suite.ts';
import { handoversSuite } from '../../support/service-suites/handovers-suite.ts';
import { runClaimsPropertySuite } from '../../support/service-suites/run-claims-property-suite.ts';

checkRunsSuite('postgres');
handoversSuite('postgres');
runClaimsPropertySuite('postgres');
