import { accountResourcesSuite } from '../../support/service-suites/account-resources-suite.ts';

accountResourcesSuite('pglite');
