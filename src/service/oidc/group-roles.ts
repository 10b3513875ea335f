import type { Role } from '../../model/enums.ts';
import { roleCovers } from '../http/access/caller.ts';

/** The role of a group of the provider, or of all users of the provider (`*`). */
export interface GroupRole {
  readonly group: string;
  readonly role: Role;
}

const EVERYONE = '*';

/** The highest role among the groups of a user (OIDC_ROLE_MAP); null if no group has a role. */
export function roleOfGroups(
  groups: readonly string[],
  groupRoles: readonly GroupRole[],
): Role | null {
  const roles = groupRoles
    .filter(({ group }) => group === EVERYONE || groups.includes(group))
    .map(({ role }) => role);
  return roles.reduce<Role | null>(
    (best, role) => (best !== null && roleCovers(best, role) ? best : role),
    null,
  );
}
