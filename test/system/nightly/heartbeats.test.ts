import { heartbeatPingsSuite } from '../../support/service-suites/heartbeat-pings-suite.ts';
import { heartbeatWatchSuite } from '../../support/service-suites/heartbeat-watch-suite.ts';
import { heartbeatsSuite } from '../../support/service-suites/heartbeats-suite.ts';

heartbeatsSuite('postgres');
heartbeatPingsSuite('postgres');
heartbeatWatchSuite('postgres');
