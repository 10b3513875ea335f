import { hostileSuite } from '../../support/service-suites/hostile-suite.ts';

hostileSuite('pglite');
hostileSuite('postgres');
