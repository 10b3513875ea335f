import { apiFuzzSuite } from '../../support/service-suites/api-fuzz-suite.ts';

apiFuzzSuite('pglite', { requests: 6_000, maxNever: 4 });
apiFuzzSuite('postgres', { requests: 6_000, maxNever: 4 });
