import { apiFuzzSuite } from './api-fuzz.ts';

apiFuzzSuite('pglite', { requests: 400, maxNever: 80 });
