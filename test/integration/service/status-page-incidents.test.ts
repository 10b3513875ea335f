import { statusPageIncidentsSuite } from '../../support/service-suites/status-page-incidents-suite.ts';

statusPageIncidentsSuite('pglite');
