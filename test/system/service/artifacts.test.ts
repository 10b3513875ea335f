import { agentErrorsSuite } from '../../support/service-suites/agent-errors-suite.ts';
import { artifactsSuite } from '../../support/service-suites/artifacts-suite.ts';

artifactsSuite('postgres');
agentErrorsSuite('postgres');
