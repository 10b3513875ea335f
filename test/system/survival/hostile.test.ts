import { databasesToTest } from '../../support/nightly.ts';
import { hostileSuite } from './hostile.suite.ts';

// A request takes the embedded database several times as much CPU.
for (const kind of databasesToTest('postgres')) hostileSuite(kind);
