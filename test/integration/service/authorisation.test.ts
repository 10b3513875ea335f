import { authorisationSuite } from '../../support/service-suites/authorisation-suite.ts';

authorisationSuite('pglite');
