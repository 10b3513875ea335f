import { z } from 'zod';
import { CHECK_ID } from '../../../model/ids.ts';
import { booleanQuery, pageQuery, repeatable } from './parameters.ts';

export const CHECK_TAGS = ['Checks'];
export const READ = { role: 'read' } as const;
export const WRITE = { role: 'write' } as const;
/** Takes If-Match and If-None-Match. */
export const CONDITIONAL = { ...WRITE, conditional: true } as const;
export const MAX_FILTERS = 100;

/** The same as in a check file. */
export const checkId = z
  .string()
  .refine((id) => CHECK_ID.test(id), {
    error:
      'must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit',
  })
  .meta({ pattern: CHECK_ID.source })
  .describe('The id of the check: a UUID, or a slug chosen at creation.');

export const listFields = {
  tag: repeatable(z.string(), MAX_FILTERS).describe(
    'Only checks with this tag; given several times, with any of them.',
  ),
  search: z.string().max(255).optional().describe('Only checks with this in their name.'),
  ...pageQuery,
};

export const putQuery = z.object({
  autoAssignAlerts: booleanQuery(true).describe(
    'Whether a check that is created here is subscribed to all alert channels. Default: true.',
  ),
});
