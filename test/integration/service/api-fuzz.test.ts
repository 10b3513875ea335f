import { apiFuzzSuite } from '../../support/service-suites/api-fuzz-suite.ts';

apiFuzzSuite('pglite', { requests: 400, maxNever: 80 });
