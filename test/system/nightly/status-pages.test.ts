import { incidentTriggerSuite } from '../../support/service-suites/incident-trigger-suite.ts';
import { incidentsSuite } from '../../support/service-suites/incidents-suite.ts';
import { statusPageIncidentsSuite } from '../../support/service-suites/status-page-incidents-suite.ts';
import { statusPagesSuite } from '../../support/service-suites/status-pages-suite.ts';

incidentTriggerSuite('postgres');
incidentsSuite('postgres');
statusPageIncidentsSuite('postgres');
statusPagesSuite('postgres');
