import { largeLocationSuite } from '../../integration/service/agents/large-location.suite.ts';
import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';

for (const kind of databasesToTest('postgres')) {
  largeLocationSuite(kind, IS_NIGHTLY && kind === 'postgres' ? 100_000 : 10_000);
}
