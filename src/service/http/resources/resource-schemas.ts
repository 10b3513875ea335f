import { z } from 'zod';

/** The times of a resource in a response. */
export const TIMES = {
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().nullable().describe('null until it was first updated.'),
};

/** The times of a key in a response. */
export const KEY_TIMES = {
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('To the minute; null where it never was.'),
  revoked_at: z.iso.datetime().nullable().describe('null while it is active.'),
};

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
  return Object.fromEntries(
    names.map((name) => [name, z.unknown().optional().meta({ readOnly: true })]),
  );
}
