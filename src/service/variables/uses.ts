import { findVariableUses, type VariableUse } from '../checks/shared.sql.ts';
import type { Store } from '../database/store.ts';

export interface VariableUses {
  /**
   * Lists the variables that the requests of an account's checks use.
   *
   * @param key only this one, with more of its checks; null: all
   */
  list(
    accountId: string,
    key: string | null,
  ): Promise<{
    readonly uses: readonly VariableUse[];
    /** Names beyond those listed. */
    readonly droppedKeys: number;
    /** Whether no check is left out by MAX_READ. */
    readonly isComplete: boolean;
  }>;
}

/** More than the account can define, so that some that are not defined are listed, too. */
export const MAX_KEYS = 3_000;
export const MAX_CHECKS = 10;
/** Maximum number of checks with placeholders that are read: more than the service is designed for. */
export const MAX_READ = 50_000;
/** Maximum number of checks that are listed for one variable. */
export const MAX_CHECKS_OF_ONE = 1_000;

/** @param maxRead default: MAX_READ */
export function createVariableUses({
  store,
  maxRead = MAX_READ,
}: {
  readonly store: Store;
  readonly maxRead?: number;
}): VariableUses {
  return {
    async list(accountId, key) {
      const maxChecks = key === null ? MAX_CHECKS : MAX_CHECKS_OF_ONE;
      const { uses, total, read } = await findVariableUses(store, {
        accountId,
        key,
        maxKeys: MAX_KEYS,
        maxChecks,
        // Reads one more, to find out whether there are more.
        maxRead: maxRead + 1,
      });
      return { uses, droppedKeys: total - uses.length, isComplete: read <= maxRead };
    },
  };
}
