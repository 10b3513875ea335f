import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { booleanQuery, NO_CONTENT, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import type { StoredUpdate } from './updates.ts';

type Input = Readonly<Record<string, unknown>>;

/**
 * How much of its updates the answer to the reading of one incident has: src/service/README.md,
 * "Status pages and incidents".
 */
export const updatesQuery = z.strictObject({
  includeAllIncidentUpdates: booleanQuery(false).describe(
    'Whether all updates are in the answer, or the first alone.',
  ),
});

interface UpdatesFeature {
  add(accountId: string, incidentId: string, input: Input): Promise<StoredUpdate>;
  change(
    accountId: string,
    incidentId: string,
    updateId: string,
    input: Input,
  ): Promise<StoredUpdate>;
  remove(accountId: string, incidentId: string, updateId: string): Promise<void>;
}

export interface IncidentUpdateRoutes<Shown> {
  /** Of the list of incidents. */
  readonly path: string;
  readonly tag: string;
  readonly body: z.ZodObject;
  readonly response: z.ZodType<Shown>;
  readonly summaries: Readonly<Record<'add' | 'remove', string>>;
  readonly feature: UpdatesFeature;
  readonly present: (update: StoredUpdate) => Shown;
}

const WRITE = { role: 'write' } as const;

/** What is told of an incident, of either kind: adding to it, changing and deleting it. */
export function incidentUpdatesRoutes<Shown>({
  path,
  tag,
  body,
  response,
  summaries,
  feature,
  present,
}: IncidentUpdateRoutes<Shown>): FastifyPluginAsync {
  const tags = [tag];
  const all = `${path}/:incidentId/incident-updates`;
  const params = z.object({ incidentId: uuidParam });
  const updateParams = params.extend({ updateId: uuidParam });
  const changes = z.strictObject({
    ...optionalFieldsOf(body.shape as Record<string, z.ZodType>),
    ...ignored(['incidentId', 'created_at', 'updated_at']),
    id: z.string().optional().describe('The same as in the path.'),
  });
  interface OfOne {
    readonly Params: z.output<typeof updateParams>;
    readonly Body: Input;
  }

  return async (app) => {
    app.post<{ readonly Params: z.output<typeof params>; readonly Body: Input }>(
      all,
      {
        config: WRITE,
        schema: { tags, summary: summaries.add, params, body, response: { 201: response } },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const added = await feature.add(accountId, request.params.incidentId, request.body);
        return reply.code(201).send(present(added));
      },
    );

    app.route<OfOne>({
      method: ['PUT', 'PATCH'],
      url: `${all}/:updateId`,
      config: WRITE,
      schema: {
        tags,
        summary: 'Change an update of an incident',
        description: 'Fields that are left out stay as they are.',
        params: updateParams,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { incidentId, updateId } = request.params;
        return present(await feature.change(accountId, incidentId, updateId, request.body));
      },
    });

    app.delete<OfOne>(
      `${all}/:updateId`,
      {
        config: WRITE,
        schema: {
          tags,
          summary: summaries.remove,
          params: updateParams,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { incidentId, updateId } = request.params;
        await feature.remove(callerOf(request).accountId, incidentId, updateId);
        return reply.code(204).send(null);
      },
    );
  };
}
