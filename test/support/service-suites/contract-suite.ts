import { describe } from 'vitest';
import type { DatabaseKind } from '../database/databases.ts';
import { useRunningService } from '../service/service-harness.ts';
import { accessContract } from './contract-access.ts';
import { analyticsContract } from './contract-analytics.ts';
import { checksContract } from './contract-checks.ts';
import { incidentsContract } from './contract-incidents.ts';
import { limitedContract } from './contract-limited.ts';
import { resourcesContract } from './contract-resources.ts';
import { resultsContract } from './contract-results.ts';
import { semanticsContract } from './contract-semantics.ts';
import { windowsContract } from './contract-windows.ts';
import { useContractWorld } from './contract-world.ts';

/**
 * The specification against the service: each answer of part 4 against its table in part 2, and the
 * limits, defaults and errors of parts 5, 7 and 8. It is written from the specification alone.
 */
export function contractSuite(kind: DatabaseKind): void {
  describe(`the contract on ${kind}`, () => {
    const world = useContractWorld(useRunningService(kind));
    checksContract(world);
    resultsContract(world);
    analyticsContract(world);
    resourcesContract(world);
    windowsContract(world);
    incidentsContract(world);
    semanticsContract(world);
    accessContract(world);
    limitedContract(world);
  });
}
