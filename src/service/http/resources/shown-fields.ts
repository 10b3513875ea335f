import { z } from 'zod';
import { commonFields } from '../../../model/check/check.ts';

/** Fields that occur in the responses of several features. */

/** The id of what a response shows, such as `idOf('the check')`. */
export function idOf(thing: string) {
  return z.string().describe(`The id of ${thing}.`);
}

/** A sequential id. */
export function numberIdOf(thing: string) {
  return z.number().describe(`The id of ${thing}.`);
}

/** A text with the description of another resource's field. */
export function asShown(field: z.ZodType): z.ZodString {
  return z.string().describe(field.description ?? '');
}

export const createdAt = z.iso.datetime().describe('When it was created.');

/** Fields of a check in responses about other resources, with the descriptions of the check's own fields. */
export const SHOWN_CHECK = {
  checkId: idOf('the check'),
  name: asShown(commonFields.name),
  activated: z.boolean().describe(commonFields.activated.description ?? ''),
  muted: z.boolean().describe(commonFields.muted.description ?? ''),
  tags: z.array(z.string()).describe(commonFields.tags.description ?? ''),
  groupId: z
    .number()
    .nullable()
    .describe('The id of the group that the check belongs to; null for none.'),
};

/** @param types the types that checks in the response may have */
export function checkTypeOf<const Types extends readonly [string, ...string[]]>(types: Types) {
  return z.enum(types).describe('The type of the check.');
}

/** A check in a list of those that use something. */
export const namedCheck = z.strictObject({ id: SHOWN_CHECK.checkId, name: SHOWN_CHECK.name });

export const runLocation = z.string().describe('The slug of the location that made the run.');
export const runStartedAt = z.iso.datetime().describe('When the run began.');
