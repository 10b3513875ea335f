import { accountVariablesSuite } from '../../support/service-suites/account-variables-suite.ts';

accountVariablesSuite('pglite');
