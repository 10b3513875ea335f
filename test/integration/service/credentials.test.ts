import { credentialsSuite } from '../../support/service-suites/credentials-suite.ts';

credentialsSuite('pglite');
