import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { instantMsOf, instantSchema } from '../../../model/instant.ts';
import { fieldsOfWindow, maintenanceWindowSchema } from '../../../model/maintenance-window.ts';
import type {
  InstantComparison,
  InstantFilter,
  MaintenanceWindows,
  StoredWindow,
} from '../../features/maintenance-windows.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, numberParam, pageQuery } from './parameters.ts';
import { ignored, optionalFieldsOf } from './resource-schemas.ts';

const TAGS = ['Maintenance windows'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/maintenance-windows';

const COMPARISONS = {
  gt: 'after',
  gte: 'at or after',
  lt: 'before',
  lte: 'at or before',
} as const satisfies Record<InstantComparison, string>;
const FILTERED = ['startsAt', 'endsAt'] as const;
type Filtered = (typeof FILTERED)[number];

const comparisons = Object.entries(COMPARISONS) as [InstantComparison, string][];

/** `startsAt[gte]` and the others: each the name of a parameter, as it stands in the query. */
const filters = Object.fromEntries(
  FILTERED.flatMap((field) =>
    comparisons.map(([comparison, meaning]) => [
      `${field}[${comparison}]`,
      instantSchema
        .optional()
        .describe(
          `Only windows whose ${field} is ${meaning} this day (its begin, UTC) or time. One filter on ${field} at most.`,
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
        const message = `must not stand beside another filter on ${field}`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
    }
  });

const params = z.object({ id: numberParam.describe('The id of the window.') });
const changes = z.strictObject({
  ...optionalFieldsOf(maintenanceWindowSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.number().optional().describe('The same as in the path.'),
});
const time = z.iso.datetime();
const response = maintenanceWindowSchema.extend({
  id: z.number(),
  startsAt: time.describe('When it begins for the first time.'),
  endsAt: time.describe('When its first occurrence ends.'),
  repeatEndsAt: time.nullable().describe('From then on no occurrence begins.'),
  created_at: z.iso.date().describe('The day, in UTC.'),
  updated_at: z.iso.date().nullable().describe('The day, in UTC; null until it was first updated.'),
});

/** When checks pause and alerts are silent: spec 4.12, 4.13. */
export function maintenanceWindowsRoutes({
  maintenanceWindows,
}: {
  readonly maintenanceWindows: MaintenanceWindows;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create a maintenance window',
          body: maintenanceWindowSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await maintenanceWindows.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentWindow(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List maintenance windows, oldest first',
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { limit, page } = request.query;
        const windows = await maintenanceWindows.list(callerOf(request).accountId, {
          limit,
          page,
          startsAt: filterOn(request.query, 'startsAt'),
          endsAt: filterOn(request.query, 'endsAt'),
        });
        return windows.map(presentWindow);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read a maintenance window',
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return presentWindow(await maintenanceWindows.read(accountId, request.params.id));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:id`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update a maintenance window',
        description:
          'Fields that are left out stay as they are; each that is given replaces the stored one whole. Agents go by it from the next slot on.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { id } = request.params;
        return presentWindow(await maintenanceWindows.update(accountId, id, request.body));
      },
    });

    app.delete(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete a maintenance window; what it paused runs from the next slot on',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await maintenanceWindows.remove(callerOf(request).accountId, request.params.id);
        return reply.code(204).send(null);
      },
    );
  };
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
