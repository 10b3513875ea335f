import { agentsSuite } from '../../support/service-suites/agents-suite.ts';
import { assignersSuite } from '../../support/service-suites/assigners-suite.ts';
import { largeLocationSuite } from '../../support/service-suites/large-location-suite.ts';

agentsSuite('postgres');
assignersSuite('postgres');
largeLocationSuite('postgres', 100_000);
largeLocationSuite('pglite', 100_000);
