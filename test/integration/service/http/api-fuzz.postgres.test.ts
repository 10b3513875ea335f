import { databases } from '../../../support/database/databases.ts';
import { IS_NIGHTLY } from '../../../support/nightly.ts';
import { apiFuzzSuite } from './api-fuzz.suite.ts';

// With few requests only few succeed.
const SOME = { requests: 400, maxNever: 80 };
const MANY = { requests: 6_000, maxNever: 4 };

for (const kind of databases) {
  apiFuzzSuite(kind, IS_NIGHTLY && kind === 'postgres' ? MANY : SOME);
}
