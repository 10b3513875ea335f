import { incidentTriggerSuite } from '../../support/service-suites/incident-trigger-suite.ts';

incidentTriggerSuite('pglite');
