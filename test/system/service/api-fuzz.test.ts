import { apiFuzzSuite } from '../../integration/service/http/api-fuzz.suite.ts';
import { databasesToTest, IS_NIGHTLY } from '../../support/nightly.ts';

// With few requests only few succeed.
const options = IS_NIGHTLY ? { requests: 6_000, maxNever: 4 } : { requests: 600, maxNever: 70 };
for (const kind of databasesToTest('postgres')) apiFuzzSuite(kind, options);
