import type { Logger } from '../../runtime/logger.ts';
import { removeArtifactsOf } from '../artifacts/artifacts-of-account.ts';
import type { Store, TransactionOptions } from '../database/store.ts';
import type { ArtifactStore } from '../object-store/artifact-store.ts';
import { deleteAccount, revokeAccess } from './revoke-access.sql.ts';
import { partitionsOf, type RemovedRows, removeRows } from './rows.sql.ts';
import { OTHER_ROW, REMOVED_TABLES, type RemovedTable, ROWS_AT_ONCE } from './tables.ts';

export { type AccountContents, MAX_COUNTED_RESULTS, readContents } from './contents.sql.ts';

interface RemovalParts {
  readonly store: Store;
  /** The store of artifact contents; null removes only the rows and leaves the contents. */
  readonly contents: ArtifactStore | null;
  readonly log: Logger;
}

/** How many rows were removed so far, keyed by the noun for one row, in the order of removal. */
export type RemovedCounts = ReadonlyMap<string, number>;

export interface Removal {
  /** false if it was interrupted: a further call removes the rest. */
  readonly isDone: boolean;
  readonly removed: RemovedCounts;
}

/** A batch takes little time, but the last statement scans tables that have no index on the account. */
const LIMITS: TransactionOptions = { statementTimeoutMs: 600_000 };
const ARTIFACT = 'artifact';

/**
 * Removes an account and everything in it, in transactions of a few thousand rows. The first transaction
 * revokes all access. When the signal aborts, stops after the current transaction; a further call continues.
 *
 * Replicas of the service may be running: passes repeat until one finds nothing that they have written.
 *
 * @param onProgress called after each transaction
 * @throws StoreError, ArtifactError; a further call removes the rest
 */
export async function removeAccount(
  { store, contents, log }: RemovalParts,
  { id: accountId, name }: { readonly id: string; readonly name: string },
  onProgress: (removed: RemovedCounts) => void,
  signal: AbortSignal,
): Promise<Removal> {
  const counts = new Map<string, number>();
  const count = (noun: string, removed: number): void => {
    if (removed === 0) return;
    counts.set(noun, (counts.get(noun) ?? 0) + removed);
    onProgress(counts);
  };

  async function removePart(table: RemovedTable, from: string): Promise<number> {
    const { noun = OTHER_ROW, rowsAtOnce: limit = ROWS_AT_ONCE } = table;
    let removed = 0;
    let after: string | null = null;
    for (let isFull = true; isFull && !signal.aborted; ) {
      const batch = { table, from, accountId, after, limit };
      const gone: RemovedRows = await store.transaction((tx) => removeRows(tx, batch), LIMITS);
      removed += gone.removed;
      count(noun, gone.removed);
      // Rows that other transactions have changed stay for the next pass.
      isFull = gone.isFull && gone.removed > 0;
      after = gone.last;
    }
    return removed;
  }

  async function removeFrom(table: RemovedTable): Promise<number> {
    if (table.isPartitioned !== true) return await removePart(table, table.name);
    let removed = 0;
    for (const partition of await partitionsOf(store, table.name)) {
      try {
        removed += await removePart(table, partition);
      } catch (error) {
        // The retention may have dropped the partition.
        if ((await partitionsOf(store, table.name)).includes(partition)) throw error;
      }
    }
    return removed;
  }

  async function removeTables(): Promise<number> {
    let removed = 0;
    for (const table of REMOVED_TABLES) removed += await removeFrom(table);
    return removed;
  }

  async function pass(): Promise<number> {
    const out = await store.transaction((tx) => revokeAccess(tx, accountId), LIMITS);
    count('key', out.keys);
    count('user', out.users);
    count(OTHER_ROW, out.links);
    const onArtifacts = (artifacts: number): void => count(ARTIFACT, artifacts);
    const artifacts = await removeArtifactsOf({ store, contents }, accountId, onArtifacts, signal);
    return out.keys + out.users + out.links + artifacts + (await removeTables());
  }

  log.info({ accountId, name }, 'an account is being removed');
  try {
    for (;;) {
      const removed = await pass();
      if (signal.aborted) return { isDone: false, removed: counts };
      if (removed > 0) continue;
      if (await store.transaction((tx) => deleteAccount(tx, accountId), LIMITS)) break;
    }
    // Deletions, including that of the account, have written events: remove these, too.
    await removeTables();
  } catch (error) {
    if (!signal.aborted) throw error;
    return { isDone: false, removed: counts };
  }
  log.info({ accountId, name, removed: Object.fromEntries(counts) }, 'an account was removed');
  return { isDone: true, removed: counts };
}
