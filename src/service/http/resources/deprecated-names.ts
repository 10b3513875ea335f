import type { z } from 'zod';

/** Old names of fields in responses and their new names. Responses contain both for one release. */
export const NEW_NAMES = {
  createdAt: 'created_at',
  ended_at: 'endedAt',
  ends_at: 'endsAt',
  expires_at: 'expiresAt',
  firstAt: 'firstSeen',
  first_seen_at: 'firstSeen',
  lastAt: 'lastSeen',
  last_seen_at: 'lastSeen',
  last_sign_in_at: 'lastSignInAt',
  last_used_at: 'lastUsedAt',
  lease_until: 'leaseUntil',
  received_at: 'receivedAt',
  revoked_at: 'revokedAt',
  user_agent: 'userAgent',
} as const;

type Names = typeof NEW_NAMES;
type OldName = keyof Names;

/** Adds the old names of some fields to the fields of a response. */
export function alsoAs<Fields extends Readonly<Record<string, z.ZodType>>, Old extends OldName>(
  fields: Fields,
  ...old: readonly Old[]
): Fields & { [Name in Old]: Names[Name] extends keyof Fields ? Fields[Names[Name]] : never } {
  const all: Readonly<Record<string, z.ZodType>> = fields;
  const others = old.map((name) => {
    const described = all[NEW_NAMES[name]]?.describe(`The same as ${NEW_NAMES[name]}.`);
    return [name, described?.meta({ deprecated: true })] as const;
  });
  return { ...fields, ...Object.fromEntries(others) } as never;
}

/** Adds the values of old names to a resource in a response. */
export function withOldNames<Shown extends object, Old extends OldName>(
  shown: Shown,
  ...old: readonly Old[]
): Shown & { [Name in Old]: Names[Name] extends keyof Shown ? Shown[Names[Name]] : never } {
  const others = old.map((name) => [name, Reflect.get(shown, NEW_NAMES[name])] as const);
  return { ...shown, ...Object.fromEntries(others) } as never;
}
