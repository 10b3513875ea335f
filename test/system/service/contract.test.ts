import { contractSuite } from '../../support/service-suites/contract-suite.ts';

contractSuite('postgres');
