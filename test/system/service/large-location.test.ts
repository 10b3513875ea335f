import { largeLocationSuite } from '../../integration/service/agents/large-location.suite.ts';
import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';

largeLocationSuite('pglite', 10_000);
for (const kind of databasesToTest('postgres')) {
  largeLocationSuite(kind, IS_NIGHTLY ? 100_000 : 10_000);
}
