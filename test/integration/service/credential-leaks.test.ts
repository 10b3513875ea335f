import { credentialLeaksSuite } from '../../support/service-suites/credential-leaks-suite.ts';

credentialLeaksSuite('pglite');
