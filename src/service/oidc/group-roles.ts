import type { Role } from '../../model/enums.ts';
import { roleCovers } from '../http/access/caller.ts';

/** A group of the provider, or `*` for each of its users, and the role that it has here. */
export interface GroupRole {
  readonly group: string;
  readonly role: Role;
}

const EVERYONE = '*';

/** The highest role of the groups of a user (OIDC_ROLE_MAP); null if none has one. */
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
