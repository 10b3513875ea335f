import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';
import { agentsSuite } from '../../support/service-suites/agents-suite.ts';
import { assignersSuite } from '../../support/service-suites/assigners-suite.ts';
import { largeLocationSuite } from '../../support/service-suites/large-location-suite.ts';

agentsSuite('postgres');
assignersSuite('postgres');
for (const kind of databasesToTest('postgres')) {
  largeLocationSuite(kind, IS_NIGHTLY ? 100_000 : 10_000);
}
