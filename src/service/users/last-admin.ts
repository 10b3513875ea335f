import { hasOtherAdminKey } from '../api-keys/shared.sql.ts';
import type { Transaction } from '../database/store.ts';
import { findMember, hasOtherAdminUser } from './sql.ts';

/**
 * Whether the account would be without an admin: nobody could invite another one. Lock the account
 * first, or two admins could demote each other at the same time.
 */
export async function isLastAdmin(
  tx: Transaction,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<boolean> {
  const member = await findMember(tx, { accountId, userId });
  if (member?.role !== 'admin') return false;
  if (await hasOtherAdminUser(tx, { accountId, userId })) return false;
  // No key has the id of a user: any admin key counts.
  return !(await hasOtherAdminKey(tx, { accountId, id: userId }));
}
