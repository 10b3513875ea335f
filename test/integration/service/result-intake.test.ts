import { resultIntakeSuite } from '../../support/service-suites/result-intake-suite.ts';

resultIntakeSuite('pglite');
