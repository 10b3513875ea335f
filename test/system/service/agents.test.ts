import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';
import { agentBoundsSuite } from '../../support/service-suites/agent-bounds-suite.ts';
import { agentsSuite } from '../../support/service-suites/agents-suite.ts';
import { assignersSuite } from '../../support/service-suites/assigners-suite.ts';
import { endedAgentsSuite } from '../../support/service-suites/ended-agents-suite.ts';
import { foreignLocationsSuite } from '../../support/service-suites/foreign-locations-suite.ts';
import { largeLocationSuite } from '../../support/service-suites/large-location-suite.ts';

agentsSuite('postgres');
assignersSuite('postgres');
agentBoundsSuite('postgres');
endedAgentsSuite('postgres');
foreignLocationsSuite('postgres');
for (const kind of databasesToTest('postgres')) {
  largeLocationSuite(kind, IS_NIGHTLY ? 100_000 : 10_000);
}
