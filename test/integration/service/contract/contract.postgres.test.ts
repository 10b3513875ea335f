import { describe } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';
import { accessContract } from './access.suite.ts';
import { analyticsContract } from './analytics.suite.ts';
import { checksContract } from './checks.suite.ts';
import { useContractFixture } from './contract-fixture.ts';
import { incidentsContract } from './incidents.suite.ts';
import { limitedContract } from './limited.suite.ts';
import { resourcesContract } from './resources.suite.ts';
import { resultsContract } from './results.suite.ts';
import { semanticsContract } from './semantics.suite.ts';
import { windowsContract } from './windows.suite.ts';

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
