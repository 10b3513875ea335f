import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { checkGroupSchema } from '../../../model/check-group.ts';
import type { CheckGroups, StoredGroup } from '../../features/check-groups.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, numberParam, pageQuery } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Check groups'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/check-groups';

const params = z.object({ id: numberParam.describe('The id of the group.') });
const changes = z.strictObject({
  ...optionalFieldsOf(checkGroupSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.number().optional().describe('The same as in the path.'),
});
const response = checkGroupSchema.extend({ id: z.number(), ...TIMES });

/** Groups of checks, with what their checks have in common. */
export function checkGroupsRoutes({
  checkGroups,
}: {
  readonly checkGroups: CheckGroups;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create a group',
          body: checkGroupSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await checkGroups.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentGroup(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List groups, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const groups = await checkGroups.list(callerOf(request).accountId, request.query);
        return groups.map(presentGroup);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: { tags: TAGS, summary: 'Read a group', params, response: { 200: response } },
      },
      async (request) =>
        presentGroup(await checkGroups.read(callerOf(request).accountId, request.params.id)),
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:id`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update a group',
        description:
          'Fields that are left out stay as they are; each that is given replaces the stored one whole.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        return presentGroup(await checkGroups.update(accountId, request.params.id, request.body));
      },
    });

    app.delete(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Delete a group; its checks stay, without a group',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await checkGroups.remove(callerOf(request).accountId, request.params.id);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentGroup({
  id,
  fields,
  createdAt,
  updatedAt,
}: StoredGroup): z.output<typeof response> {
  return {
    ...fields,
    id,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}
