import { heartbeatPingsSuite } from '../../support/service-suites/heartbeat-pings-suite.ts';

heartbeatPingsSuite('pglite');
