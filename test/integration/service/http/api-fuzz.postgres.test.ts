import { databases } from '../../../support/database/databases.ts';
import { apiFuzzSuite } from './api-fuzz.suite.ts';

// With few requests only few succeed.
for (const kind of databases) {
  apiFuzzSuite(
    kind,
    kind === 'postgres' ? { requests: 6_000, maxNever: 4 } : { requests: 400, maxNever: 80 },
  );
}
