import { heartbeatWatchSuite } from '../../support/service-suites/heartbeat-watch-suite.ts';

heartbeatWatchSuite('pglite');
