import { apiFuzzSuite } from '../../support/service-suites/api-fuzz-suite.ts';

apiFuzzSuite('pglite', { requests: 200, maxNever: 110 });
