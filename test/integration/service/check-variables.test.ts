import { checkVariablesSuite } from '../../support/service-suites/check-variables-suite.ts';

checkVariablesSuite('pglite');
