import { z } from 'zod';
import { STORED_CHECK_TYPES, type StoredCheckType } from '../../../model/enums.ts';
import { CHECK_ID, RESERVED_CHECK_IDS_TEXT } from '../../../model/ids.ts';
import { CHECK_STATES } from '../../../model/result/check-state.ts';
import { booleanQuery, numberParam, pageQuery, repeatable } from './parameters.ts';

export const CHECK_TAGS = ['Checks'];
export const MAX_FILTERS = 100;
/** What a check may lack. */
export const WITHOUT = ['group', 'tag', 'location'] as const;
export type Without = (typeof WITHOUT)[number];

/** The same as in a check file. */
export const checkId = z
  .string()
  .refine((id) => CHECK_ID.test(id), {
    error:
      'must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit',
  })
  .meta({ pattern: CHECK_ID.source })
  .describe('The id of the check: a UUID, or a slug chosen at creation.');

/**
 * The id of a PUT, which may create the check. Its schema refuses no reserved id, because checks that an
 * earlier release stored keep theirs.
 */
export const putCheckId = checkId.describe(
  `${checkId.description ?? ''} A new check cannot have the id ${RESERVED_CHECK_IDS_TEXT}: these are paths of the API.`,
);

/** Filters of lists of checks. */
export const checkFilters = {
  tag: repeatable(z.string(), MAX_FILTERS).describe(
    'Only checks with this tag; given several times, with any of them.',
  ),
  state: repeatable(z.enum(CHECK_STATES), MAX_FILTERS).describe(
    'Only checks in this state; given several times, in any of them.',
  ),
  search: z
    .string()
    .max(255)
    .optional()
    .describe('Only checks with this in their name, in upper or lower case.'),
  activated: booleanQuery(false)
    .unwrap()
    .optional()
    .describe('true: only checks that are activated; false: only others. Groups do not count.'),
  groupId: numberParam.optional().describe('Only checks of this group.'),
  location: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Only checks that run in this location, public or private.'),
  silent: booleanQuery(false)
    .unwrap()
    .optional()
    .describe(
      'true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others.',
    ),
  without: repeatable(z.enum(WITHOUT), MAX_FILTERS).describe(
    'Only checks without a group, a tag or a location; given several times, without all of these.',
  ),
};
const checkFiltersSchema = z.object(checkFilters);

export const typeFilter = repeatable(z.enum(STORED_CHECK_TYPES), MAX_FILTERS).describe(
  'Only checks of this type; repeated, of any of these types.',
);

/** The filters of a query, as lists of checks take them. */
export function filterOf(
  {
    tag,
    state,
    search,
    activated,
    groupId,
    location,
    silent,
    without,
  }: z.output<typeof checkFiltersSchema>,
  types: readonly StoredCheckType[],
) {
  return {
    tags: tag,
    types,
    states: state,
    search: search ?? null,
    activated: activated ?? null,
    groupId: groupId ?? null,
    location: location ?? null,
    silent: silent ?? null,
    without,
  };
}

export const listFields = { ...checkFilters, ...pageQuery };

export const putQuery = z.object({
  autoAssignAlerts: booleanQuery(true).describe(
    'Whether a check that is created here is subscribed to all alert channels. Default: true.',
  ),
});
