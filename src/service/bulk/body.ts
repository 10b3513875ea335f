import { z } from 'zod';
import { errorSchema } from '../http/openapi/error-schema.ts';
import { checkFilters, checkId, filterOf, typeFilter } from '../http/resources/check-parameters.ts';

/** Takes some seconds. The response is short enough (256 KiB) to be stored for its Idempotency-Key. */
export const MAX_CHANGED = 1_000;
/** With 200 values each, these reach the limit on values in a body. */
export const MAX_CREATED = 100;

const filter = z.strictObject({ type: typeFilter, ...checkFilters });

const dryRun = z
  .boolean()
  .default(false)
  .describe('true: the response is that of a real request, but nothing is written.');

/** Which checks: exactly one of `ids` and `filter`. */
const selection = {
  ids: z.array(checkId).min(1).max(MAX_CHANGED).optional().describe('The ids of the checks.'),
  filter: filter
    .optional()
    .describe(`Instead of ids: all checks that match, at most ${MAX_CHANGED}.`),
  expected: z
    .int()
    .min(0)
    .optional()
    .describe(
      'How many checks the filter must match; for any other number the response is 409. Required to delete by a filter.',
    ),
};

/** The body of POST /v1/checks/bulk: src/service/README.md, "Many checks at once". */
export const bulkBody = z
  .discriminatedUnion('action', [
    z.strictObject({
      action: z.literal('create').describe('Creates checks.'),
      checks: z
        .array(z.record(z.string(), z.unknown()))
        .min(1)
        .max(MAX_CREATED)
        .describe(
          'Each as in the body of POST /v1/checks or, with checkType HEARTBEAT, of POST /v1/checks/heartbeats.',
        ),
      autoAssignAlerts: z
        .boolean()
        .default(true)
        .describe('Whether the new checks are subscribed to all alert channels. Default: true.'),
      dryRun,
    }),
    z.strictObject({
      action: z.literal('update').describe('Changes fields of checks.'),
      ...selection,
      changes: z
        .record(z.string(), z.unknown())
        .describe("The fields to change in each check, as in the route of the check's type."),
      dryRun,
    }),
    z.strictObject({
      action: z
        .enum(['mute', 'unmute', 'pause', 'resume'])
        .describe('Sets `muted`, or `activated` (pause: false, resume: true).'),
      ...selection,
      dryRun,
    }),
    z.strictObject({
      action: z.literal('delete').describe('Deletes checks.'),
      ...selection,
      dryRun,
    }),
    z.strictObject({
      action: z.literal('run').describe('Requests a run of each check.'),
      ...selection,
      location: z
        .string()
        .min(1)
        .max(255)
        .nullable()
        .default(null)
        .describe('As in the body of POST /v1/checks/{id}/run.'),
      dryRun,
    }),
  ])
  .superRefine((body, context) => {
    const refuse = (path: readonly PropertyKey[], message: string): void => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    if (body.action === 'update' && Object.keys(body.changes).length === 0) {
      refuse(['changes'], 'must have at least one field');
    }
    if (body.action === 'create') return;
    const { ids, filter: given, expected, action } = body;
    if (ids === undefined && given === undefined) {
      refuse(['ids'], 'is missing: give the ids of the checks, or a filter');
    }
    if (ids !== undefined && given !== undefined) {
      refuse(['filter'], 'must not be given together with ids');
    }
    const seen = new Set<string>();
    for (const [index, id] of (ids ?? []).entries()) {
      if (seen.has(id)) refuse(['ids', index], `must not name ${id} twice`);
      seen.add(id);
    }
    if (given !== undefined && isEmpty(given)) {
      refuse(['filter'], 'must have at least one field: without any it matches every check');
    }
    if (given === undefined && expected !== undefined) {
      refuse(['expected'], 'needs a filter');
    }
    if (action === 'delete' && given !== undefined && expected === undefined && !body.dryRun) {
      refuse(
        ['expected'],
        'is missing: to delete by a filter, say how many checks it matches; a request with dryRun returns this as counts.total',
      );
    }
  });

export type BulkBody = z.output<typeof bulkBody>;
/** A body that names checks. */
export type BulkChange = Exclude<BulkBody, { readonly action: 'create' }>;

/** The filter of a body as lists of checks take it; null without one. */
export function checkFilterOf(body: BulkChange) {
  return body.filter === undefined ? null : filterOf(body.filter, body.filter.type);
}

/** A list without items and an empty search match everything. */
function isEmpty(given: z.output<typeof filter>): boolean {
  return Object.values(given).every(
    (value) => value === undefined || value === '' || (Array.isArray(value) && value.length === 0),
  );
}

const result = z.strictObject({
  index: z.int().describe('The position in `checks`, `ids` or the checks of the filter, from 0.'),
  id: z.string().nullable().describe('The id of the check; null if none was created.'),
  status: z.int().describe('The status of the response to the request for this check alone.'),
  location: z
    .string()
    .optional()
    .describe('The path of what was created: the check or, for `run`, the run.'),
  error: errorSchema
    .optional()
    .describe('The body of the response to the request for this check alone.'),
});
export type BulkResult = z.output<typeof result>;

export const bulkResponse = z.strictObject({
  dryRun: z.boolean().describe('Whether nothing was written.'),
  counts: z
    .strictObject({
      total: z.int().describe('How many checks the request is for.'),
      succeeded: z.int().describe('Those without an `error`.'),
      failed: z.int().describe('Those with an `error`.'),
    })
    .describe('How many checks have which outcome.'),
  results: z.array(result).describe('The outcome for each check, in order.'),
});
