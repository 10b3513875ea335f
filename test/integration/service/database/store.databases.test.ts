import { describe } from 'vitest';
import { databases, openTestStore, useEmptyStore } from '../../../support/database/databases.ts';
import { migrateSuite } from './migrate.ts';
import { partitionSuite } from './partitions.ts';
import { schemaSuite, storeSuite } from './store.ts';
import { upgradeSuite } from './upgrades.ts';

describe.each(databases)('on %s', (kind) => {
  const store = useEmptyStore(kind);
  storeSuite(store, (clock) => openTestStore(kind, clock));
  schemaSuite(store);
  migrateSuite(store);
  partitionSuite(store);
  upgradeSuite(store);
});
