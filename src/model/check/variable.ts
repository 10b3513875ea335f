import { z } from 'zod';
import { MAX_KEY_CHARS, VARIABLE_KEY } from './variable-key.ts';

export { MAX_KEY_CHARS };
/** The limit of a variable's value, in characters. */
export const MAX_VALUE_CHARS = 20_000;

export const variableKeySchema = z
  .string()
  .min(1)
  .max(MAX_KEY_CHARS)
  .refine((key) => VARIABLE_KEY.test(key), {
    error: 'must be letters, digits and underscores, and not begin with a digit',
  })
  .meta({ pattern: VARIABLE_KEY.source })
  .describe('The name of the variable in templates.');

/** A variable of an account (src/model/README.md, "Variables and secrets"). */
export const accountVariableSchema = z.strictObject({
  key: variableKeySchema,
  value: z.string().max(MAX_VALUE_CHARS).describe('The value that replaces the template.'),
  locked: z
    .boolean()
    .default(false)
    .describe(
      'Tells user interfaces not to show the value. Responses contain it unless it is secret.',
    ),
  secret: z
    .boolean()
    .default(false)
    .describe('Whether the value is stored encrypted and never returned.'),
});
export type AccountVariable = z.output<typeof accountVariableSchema>;

/** A variable of a check or of a check file (src/model/README.md, "Variables and secrets"). */
export const ownVariableSchema = z
  .strictObject({
    key: variableKeySchema,
    value: z.string().max(MAX_VALUE_CHARS).describe('The value that replaces the template.'),
    secret: z
      .boolean()
      .default(false)
      .describe('Whether the value is masked wherever it would appear.'),
  })
  .meta({ title: 'CheckVariable' });
export type OwnVariable = z.output<typeof ownVariableSchema>;

/** The limit of a check's own variables. */
export const MAX_OWN_VARIABLES = 100;

/** At most `maxCount` variables with different keys. */
export function ownVariablesSchema(maxCount: number) {
  return z.array(ownVariableSchema).max(maxCount).superRefine(refuseRepeatedKeys);
}

function refuseRepeatedKeys(variables: readonly OwnVariable[], context: z.RefinementCtx): void {
  const firsts = new Map<string, number>();
  for (const [index, { key }] of variables.entries()) {
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, index);
    else {
      const message = `must be unique: variables[${first}] has the key ${JSON.stringify(key)} too`;
      context.addIssue({ code: 'custom', path: [index, 'key'], message });
    }
  }
}
