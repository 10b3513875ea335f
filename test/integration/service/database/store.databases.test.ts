import { describe } from 'vitest';
import { databases, openTestStore, useEmptyStore } from '../../../support/database/databases.ts';
import { migrateSuite } from './migrate.suite.ts';
import { partitionSuite } from './partitions.suite.ts';
import { schemaSuite, storeSuite } from './store.suite.ts';
import { upgradeSuite } from './upgrades.suite.ts';

describe.each(databases)('on %s', (kind) => {
  const store = useEmptyStore(kind);
  storeSuite(store, (clock) => openTestStore(kind, clock));
  schemaSuite(store);
  migrateSuite(store);
  partitionSuite(store);
  upgradeSuite(store);
});
