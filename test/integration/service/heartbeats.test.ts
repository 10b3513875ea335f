import { heartbeatsSuite } from '../../support/service-suites/heartbeats-suite.ts';

heartbeatsSuite('pglite');
