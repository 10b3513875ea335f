import { incidentsSuite } from '../../support/service-suites/incidents-suite.ts';

incidentsSuite('pglite');
