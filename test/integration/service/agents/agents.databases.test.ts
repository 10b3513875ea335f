import { describe } from 'vitest';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';
import { useAgentLab } from '../../../support/service/agent-lab.ts';
import { leaseSuite } from './lease.ts';
import { pollSuite } from './poll.ts';
import { sharingSuite } from './sharing.ts';

/** Agents that poll, their leases, and who of them runs what. */
describe.each(databases)('on %s', (kind) => {
  describe('agents', () => {
    const store = useMigratedStore(kind);
    const lab = useAgentLab(store);
    sharingSuite(lab);
    leaseSuite(lab);
    pollSuite(lab);
  });
});
