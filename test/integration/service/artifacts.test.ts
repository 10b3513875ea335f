import { artifactsSuite } from '../../support/service-suites/artifacts-suite.ts';

artifactsSuite('pglite');
