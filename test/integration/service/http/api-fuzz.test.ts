import { apiFuzzSuite } from './api-fuzz.suite.ts';

apiFuzzSuite('pglite', { requests: 400, maxNever: 80 });
