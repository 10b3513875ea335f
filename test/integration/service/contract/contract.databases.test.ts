import { describe } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { useRunningService } from '../../../support/service/service-harness.ts';
import { accessContract } from './access.ts';
import { analyticsContract } from './analytics.ts';
import { checksContract } from './checks.ts';
import { incidentsContract } from './incidents.ts';
import { limitedContract } from './limited.ts';
import { resourcesContract } from './resources.ts';
import { resultsContract } from './results.ts';
import { semanticsContract } from './semantics.ts';
import { windowsContract } from './windows.ts';
import { useContractWorld } from './world.ts';

/**
 * The specification against the service: each answer of part 4 against its table in part 2, and the
 * limits, defaults and errors of parts 5, 7 and 8. It is written from the specification alone.
 */
describe.each(databases)('on %s', (kind) => {
  describe('the contract', () => {
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
});
