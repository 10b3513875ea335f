import { describe } from 'vitest';
import { type DatabaseKind, useMigratedStore } from '../database/databases.ts';
import { useAgentLab } from '../service/agent-lab.ts';
import { leaseSuite } from './lease-suite.ts';
import { pollSuite } from './poll-suite.ts';
import { sharingSuite } from './sharing-suite.ts';

/** Agents that poll, their leases, and who of them runs what. */
export function agentsSuite(kind: DatabaseKind): void {
  describe(`agents on ${kind}`, () => {
    const store = useMigratedStore(kind);
    const lab = useAgentLab(store);
    sharingSuite(lab);
    leaseSuite(lab);
    pollSuite(lab);
  });
}
