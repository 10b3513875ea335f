import { secretScrubbingSuite } from '../../support/service-suites/secret-scrubbing-suite.ts';

secretScrubbingSuite('pglite');
