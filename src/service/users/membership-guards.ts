import type { Role } from '../../model/enums.ts';
import { hasOtherAdminKey } from '../api-keys/shared.sql.ts';
import type { Transaction } from '../database/store.ts';
import { deleteAdminInvitations, deleteInvitationsOf } from './links.sql.ts';
import { findMember, hasOtherAdminUser } from './sql.ts';

interface MemberKey {
  readonly accountId: string;
  readonly userId: string;
}

/**
 * Whether the user is the account's last admin: without an admin, nobody could invite another one. Lock the account
 * first; otherwise two admins could demote each other at the same time.
 */
export async function isLastAdmin(
  tx: Transaction,
  { accountId, userId }: MemberKey,
): Promise<boolean> {
  const member = await findMember(tx, { accountId, userId });
  if (member?.role !== 'admin') return false;
  if (await hasOtherAdminUser(tx, { accountId, userId })) return false;
  // No key has the id of a user: any admin key counts.
  return !(await hasOtherAdminKey(tx, { accountId, id: userId }));
}

/**
 * Withdraws links with which a member could regain a role that is being removed. Call it before the change. If an
 * admin is demoted, withdraws all links to become an admin, since the admin may have any of them.
 *
 * @param role the new one; null if the user leaves the account
 */
export async function withdrawInvitations(
  tx: Transaction,
  { accountId, userId, role }: MemberKey & { readonly role: Role | null },
): Promise<void> {
  const member = await findMember(tx, { accountId, userId });
  if (member === null) return;
  if (member.role === 'admin' && role !== 'admin') await deleteAdminInvitations(tx, accountId);
  if (role === null) await deleteInvitationsOf(tx, { accountId, email: member.email });
}
