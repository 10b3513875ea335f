import { z } from 'zod';

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_KEY_CHARS = 255;
const MAX_VALUE_CHARS = 20_000;

export const variableKeySchema = z
  .string()
  .min(1)
  .max(MAX_KEY_CHARS)
  .refine((key) => KEY.test(key), {
    error: 'must be letters, digits and underscores, and not begin with a digit',
  })
  .meta({ pattern: KEY.source })
  .describe('Its name in templates.');

/** A variable of an account (SEMANTICS 2). */
export const accountVariableSchema = z.strictObject({
  key: variableKeySchema,
  value: z.string().max(MAX_VALUE_CHARS).describe('What stands in its place.'),
  locked: z.boolean().default(false).describe('Whether people are not to be shown its value.'),
  secret: z
    .boolean()
    .default(false)
    .describe('Whether its value is encrypted when stored, and never given back.'),
});
export type AccountVariable = z.output<typeof accountVariableSchema>;
