import type { Role } from '../../api/signed-in-user.ts';

/** From the lowest to the highest. */
export const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: 'read', label: 'read: sees everything but secrets' },
  { value: 'run', label: 'run: also runs checks' },
  { value: 'write', label: 'write: also changes checks, channels and pages' },
  { value: 'admin', label: 'admin: also keys, users and variables' },
];

export function roleOf(value: string): Role {
  return ROLES.find((role) => role.value === value)?.value ?? 'read';
}
