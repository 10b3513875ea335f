import { agentBoundsSuite } from '../../support/service-suites/agent-bounds-suite.ts';
import { endedAgentsSuite } from '../../support/service-suites/ended-agents-suite.ts';
import { foreignLocationsSuite } from '../../support/service-suites/foreign-locations-suite.ts';

agentBoundsSuite('pglite');
endedAgentsSuite('pglite');
foreignLocationsSuite('pglite');
