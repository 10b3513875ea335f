import { findVariableUses, type VariableUse } from '../checks/shared.sql.ts';
import type { Store } from '../database/store.ts';

export interface VariableUses {
  /**
   * Which variables the requests of an account's checks name.
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
  }>;
}

/** More than the account can define, so that some that are not defined are listed, too. */
export const MAX_KEYS = 3_000;
export const MAX_CHECKS = 10;
/** The most checks that are listed for one variable. */
export const MAX_CHECKS_OF_ONE = 1_000;

export function createVariableUses({ store }: { readonly store: Store }): VariableUses {
  return {
    async list(accountId, key) {
      const maxChecks = key === null ? MAX_CHECKS : MAX_CHECKS_OF_ONE;
      const asked = { accountId, key, maxKeys: MAX_KEYS, maxChecks };
      const { uses, total } = await findVariableUses(store, asked);
      return { uses, droppedKeys: total - uses.length };
    },
  };
}
