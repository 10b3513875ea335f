import { agentsSuite } from '../../support/service-suites/agents-suite.ts';

agentsSuite('pglite');
