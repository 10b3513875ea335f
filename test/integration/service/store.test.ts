import { openTestStore, useEmptyStore } from '../../support/database/databases.ts';
import { migrateSuite } from '../../support/migrate-suite.ts';
import { partitionSuite } from '../../support/partition-suite.ts';
import { schemaSuite, storeSuite } from '../../support/store-suite.ts';
import { upgradeSuite } from '../../support/upgrade-suite.ts';

const store = useEmptyStore('pglite');

storeSuite(store, (clock) => openTestStore('pglite', clock));
schemaSuite(store);
migrateSuite(store);
partitionSuite(store);
upgradeSuite(store);
