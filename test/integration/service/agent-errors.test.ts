import { agentErrorsSuite } from '../../support/service-suites/agent-errors-suite.ts';

agentErrorsSuite('pglite');
