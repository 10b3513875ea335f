import { z } from 'zod';
import { timeZoneSchema } from './time-zone.ts';

/** The fields of an account that its admins change. */
export const accountFields = {
  name: z
    .string()
    .min(1)
    .max(255)
    .refine((name) => name.trim() !== '', 'must not be blank')
    .describe('The name of the account for its users.'),
  timeZone: timeZoneSchema.describe(
    'The zone in which emails and Slack messages about alerts write times: a name of the IANA database, such as Europe/Berlin. The API itself has times in UTC.',
  ),
};

export const accountSchema = z.strictObject(accountFields);
