import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { instantMsOf, instantSchema } from '../../model/instant.ts';
import {
  fieldsOfWindow,
  maintenanceWindowSchema,
} from '../../model/schedule/maintenance-window.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { numberParam, pageQuery } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { numberIdOf } from '../http/resources/shown-fields.ts';
import type {
  InstantComparison,
  InstantFilter,
  MaintenanceWindows,
  StoredWindow,
} from './maintenance-windows.ts';

const COMPARISONS = {
  gt: 'after',
  gte: 'at or after',
  lt: 'before',
  lte: 'at or before',
} as const satisfies Record<InstantComparison, string>;
const FILTERED = ['startsAt', 'endsAt'] as const;
type Filtered = (typeof FILTERED)[number];

const comparisons = Object.entries(COMPARISONS) as [InstantComparison, string][];

/** Keyed by the name of the query parameter, such as `startsAt[gte]`. */
const filters = Object.fromEntries(
  FILTERED.flatMap((field) =>
    comparisons.map(([comparison, meaning]) => [
      `${field}[${comparison}]`,
      instantSchema
        .optional()
        .describe(
          `Only windows whose ${field} is ${meaning} this time; a day means its start in UTC. At most one filter on ${field}.`,
        ),
    ]),
  ),
);

const query = z
  .strictObject({ ...pageQuery, ...filters })
  .superRefine((given: Readonly<Record<string, unknown>>, context) => {
    for (const field of FILTERED) {
      const [, ...more] = namesGiven(given, field);
      for (const name of more) {
        const message = `must not be combined with another filter on ${field}`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
    }
  });

const changes = z.strictObject({
  ...optionalFieldsOf(maintenanceWindowSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.number().optional().describe('The same as in the path.'),
});
const time = z.iso.datetime();
const response = maintenanceWindowSchema.extend({
  id: numberIdOf('the window'),
  startsAt: time.describe('When the first occurrence starts.'),
  endsAt: time.describe('When the first occurrence ends.'),
  repeatEndsAt: time.nullable().describe('No occurrence starts at or after this time.'),
  created_at: z.iso.date().describe('The day of its creation, in UTC.'),
  updated_at: z.iso
    .date()
    .nullable()
    .describe('The day of its last update, in UTC; null until the first update.'),
});

/** When checks pause and alerts are silent: src/service/README.md, "Maintenance windows". */
export function maintenanceWindowsRoutes({
  maintenanceWindows,
}: {
  readonly maintenanceWindows: MaintenanceWindows;
}): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/maintenance-windows',
    resource: 'MaintenanceWindow',
    tag: 'Maintenance windows',
    changing: { role: 'write' },
    id: { name: 'id', schema: numberParam.describe('The id of the window.') },
    query,
    body: maintenanceWindowSchema,
    changes,
    response,
    texts: {
      create: { summary: 'Create a maintenance window' },
      list: { summary: 'List maintenance windows, oldest first' },
      read: { summary: 'Read a maintenance window' },
      update: {
        summary: 'Update a maintenance window',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole. Agents apply the change from the next slot on.',
      },
      remove: {
        summary: 'Delete a maintenance window; paused checks resume at their next slot',
      },
    },
    feature: {
      ...maintenanceWindows,
      list: (accountId, given) =>
        maintenanceWindows.list(accountId, {
          ...given,
          startsAt: filterOn(given, 'startsAt'),
          endsAt: filterOn(given, 'endsAt'),
        }),
    },
    present: presentWindow,
  });
}

function namesGiven(given: Readonly<Record<string, unknown>>, field: Filtered): readonly string[] {
  const names = comparisons.map(([comparison]) => `${field}[${comparison}]`);
  return names.filter((name) => given[name] !== undefined);
}

function filterOn(given: Readonly<Record<string, unknown>>, field: Filtered): InstantFilter | null {
  for (const [comparison] of comparisons) {
    const text = given[`${field}[${comparison}]`];
    const atMs = typeof text === 'string' ? instantMsOf(text) : null;
    if (atMs !== null) return { comparison, atMs };
  }
  return null;
}

function presentWindow({
  id,
  window,
  createdAt,
  updatedAt,
}: StoredWindow): z.output<typeof response> {
  return {
    ...fieldsOfWindow(window),
    id,
    created_at: createdAt.toISOString().slice(0, 10),
    updated_at: updatedAt?.toISOString().slice(0, 10) ?? null,
  };
}
