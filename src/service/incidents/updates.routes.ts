import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { CONDITIONAL } from '../http/access/route-roles.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import type { RawBody } from '../http/resources/given-fields.ts';
import { booleanQuery, NO_CONTENT, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import type { StoredIncident } from './incidents.ts';
import { type IncidentUpdates, type StoredUpdate, UPDATE_RESPONSE_ONLY } from './updates.ts';

/** When one incident is read: src/service/README.md, "Status pages and incidents". */
export const updatesQuery = z.strictObject({
  includeAllIncidentUpdates: booleanQuery(false).describe(
    'Whether the response has all updates, or only the first.',
  ),
});

export interface IncidentUpdateRoutes<Fields, Shown> {
  /** The path of the list of incidents. */
  readonly path: string;
  /** The name of the incidents in operation ids. */
  readonly resource: string;
  readonly tag: string;
  readonly body: z.ZodObject;
  readonly response: z.ZodType<Shown>;
  readonly summaries: Readonly<Record<'add' | 'remove', string>>;
  readonly feature: IncidentUpdates<Fields>;
  readonly present: (update: StoredUpdate) => Shown;
  readonly presentIncident: (incident: StoredIncident<Fields>) => object;
}

/** The routes that add, change and delete an update of an incident of either kind. */
export function incidentUpdatesRoutes<Fields, Shown>({
  path,
  resource,
  tag,
  body,
  response,
  summaries,
  feature,
  present,
  presentIncident,
}: IncidentUpdateRoutes<Fields, Shown>): FastifyPluginAsync {
  const tags = [tag];
  const all = `${path}/:incidentId/incident-updates`;
  const params = z.object({ incidentId: uuidParam });
  const updateParams = params.extend({ updateId: uuidParam });
  const changes = z.strictObject({
    ...optionalFieldsOf(body.shape as Record<string, z.ZodType>),
    ...ignored(UPDATE_RESPONSE_ONLY),
    id: z.string().optional().describe('The same as in the path.'),
  });
  interface OfOne {
    readonly Params: z.output<typeof updateParams>;
    readonly Body: RawBody;
  }
  // An update has no GET route: clients that read it with its incident have the ETag of the incident.
  const requiredBy = (request: FastifyRequest) =>
    preconditionOf<StoredUpdate | StoredIncident<Fields>>(request, (stored) =>
      'incidentId' in stored ? present(stored) : presentIncident(stored),
    );

  return async (app) => {
    app.post<{ readonly Params: z.output<typeof params>; readonly Body: RawBody }>(
      all,
      {
        config: CONDITIONAL,
        schema: {
          tags,
          operationId: `create${resource}Update`,
          summary: summaries.add,
          params,
          body,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { params, body } = request;
        const added = await feature.add(accountId, params.incidentId, body, requiredBy(request));
        const location = `${path}/${params.incidentId}/incident-updates/${added.id}`;
        return reply.code(201).header('location', location).send(present(added));
      },
    );

    app.route<OfOne>({
      method: ['PUT', 'PATCH'],
      url: `${all}/:updateId`,
      config: CONDITIONAL,
      schema: {
        tags,
        operationId: `update${resource}Update`,
        summary: 'Change an update of an incident',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole.',
        params: updateParams,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { incidentId, updateId } = request.params;
        const required = requiredBy(request);
        return present(
          await feature.change(accountId, incidentId, updateId, request.body, required),
        );
      },
    });

    app.delete<OfOne>(
      `${all}/:updateId`,
      {
        config: CONDITIONAL,
        schema: {
          tags,
          operationId: `delete${resource}Update`,
          summary: summaries.remove,
          params: updateParams,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { incidentId, updateId } = request.params;
        await feature.remove(accountId, incidentId, updateId, requiredBy(request));
        return reply.code(204).send(null);
      },
    );
  };
}
