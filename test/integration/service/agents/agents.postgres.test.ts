import { describe } from 'vitest';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';
import { useAgentFixture } from '../../../support/service/agent-fixture.ts';
import { leaseSuite } from './lease.suite.ts';
import { pollSuite } from './poll.suite.ts';
import { scriptsSuite } from './scripts.suite.ts';
import { sharingSuite } from './sharing.suite.ts';

/** Agents that poll, their leases, and who of them runs what. */
describe.each(databases)('on %s', (kind) => {
  describe('agents', () => {
    const store = useMigratedStore(kind);
    const fixture = useAgentFixture(store);
    sharingSuite(fixture);
    leaseSuite(fixture);
    pollSuite(fixture);
    scriptsSuite(fixture);
  });
});
