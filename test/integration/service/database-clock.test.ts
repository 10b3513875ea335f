import { databaseClockSuite } from '../../support/service-suites/database-clock-suite.ts';

databaseClockSuite('pglite');
