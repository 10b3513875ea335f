import { describe } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';
import { accessContract } from './access.ts';
import { analyticsContract } from './analytics.ts';
import { checksContract } from './checks.ts';
import { useContractFixture } from './contract-fixture.ts';
import { incidentsContract } from './incidents.ts';
import { limitedContract } from './limited.ts';
import { resourcesContract } from './resources.ts';
import { resultsContract } from './results.ts';
import { semanticsContract } from './semantics.ts';
import { windowsContract } from './windows.ts';

/**
 * The specification against the service: each answer of part 4 against its table in part 2, and the
 * limits, defaults and errors of parts 5, 7 and 8. It is written from the specification alone.
 */
describe.each(databases)('on %s', (kind) => {
  describe('the contract', () => {
    const fixture = useContractFixture(useRunningService(kind));
    checksContract(fixture);
    resultsContract(fixture);
    analyticsContract(fixture);
    resourcesContract(fixture);
    windowsContract(fixture);
    incidentsContract(fixture);
    semanticsContract(fixture);
    accessContract(fixture);
    limitedContract(fixture);
  });
});
