import { agentBoundsSuite } from '../../support/service-suites/agent-bounds-suite.ts';
import { endedAgentsSuite } from '../../support/service-suites/ended-agents-suite.ts';

agentBoundsSuite('pglite');
endedAgentsSuite('pglite');
