import { z } from 'zod';
import { repeatedField } from '../../../model/repeated-field.ts';
import { alsoAs, withOldNames } from './deprecated-names.ts';
import { createdAt } from './shown-fields.ts';

/** The times of a resource in a response. */
export const TIMES = {
  created_at: createdAt,
  updated_at: z.iso.datetime().nullable().describe('null until it was first updated.'),
};

interface KeyTimes {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The parts of a key that a response shows. */
export const KEY_PARTS = {
  prefix: z.string().describe('The first characters of the key.'),
  lastFour: z
    .string()
    .nullable()
    .describe(
      'The last four characters of the key; null for a key from before the release that stores them.',
    ),
};

/** The times of a key in a response. */
export const KEY_TIMES = alsoAs(
  {
    created_at: createdAt,
    lastUsedAt: z.iso.datetime().nullable().describe('To the minute; null if it was never used.'),
    revokedAt: z.iso.datetime().nullable().describe('null while it is active.'),
  },
  'last_used_at',
  'revoked_at',
);

export function presentKeyTimes({ createdAt, lastUsedAt, revokedAt }: KeyTimes) {
  const shown = {
    created_at: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
  return withOldNames(shown, 'last_used_at', 'revoked_at');
}

type Fields = Readonly<Record<string, z.ZodType>>;

/**
 * The fields of an update: all optional and without defaults, which would overwrite stored values.
 */
export function optionalFieldsOf(fields: Fields): Record<string, z.ZodOptional<z.ZodType>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const inner = schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;
      return [name, inner.optional().describe(schema.description ?? '')];
    }),
  );
}

/** Fields of a response that an update may repeat: they change nothing. */
export function ignored(names: readonly string[]): Record<string, z.ZodOptional<z.ZodType>> {
  return Object.fromEntries(names.map((name) => [name, repeatedField]));
}
