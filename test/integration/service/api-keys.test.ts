import { apiKeysSuite } from '../../support/service-suites/api-keys-suite.ts';

apiKeysSuite('pglite');
