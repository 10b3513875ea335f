import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { accountVariableSchema, variableKeySchema } from '../../../model/variable.ts';
import type { StoredVariable, Variables } from '../../features/variables.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, pageQuery } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Variables'];
const READ = { role: 'read' } as const;
/** Whoever may change them decides what every check sends, and where. */
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/variables';

const params = z.object({ key: variableKeySchema });
const { shape } = accountVariableSchema;
const response = z.strictObject({
  key: shape.key,
  value: shape.value.nullable().describe('null where it is secret.'),
  locked: z.boolean().describe('Whether people are not to be shown its value.'),
  secret: z.boolean().describe('Whether its value is encrypted, and never given back.'),
  ...TIMES,
});
const changes = z.strictObject({
  ...optionalFieldsOf(shape),
  ...ignored(['created_at', 'updated_at']),
  key: z.string().optional().describe('The same as in the path.'),
  value: shape.value.nullable().optional().describe('null, as answers have it, changes nothing.'),
});

/** What stands in the place of templates in checks: SEMANTICS 2. */
export function variablesRoutes({
  variables,
}: {
  readonly variables: Variables;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          summary: 'Create a variable',
          body: accountVariableSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await variables.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentVariable(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List variables by their keys',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const found = await variables.list(callerOf(request).accountId, request.query);
        return found.map(presentVariable);
      },
    );

    app.get(
      `${PATH}/:key`,
      {
        config: READ,
        schema: { tags: TAGS, summary: 'Read a variable', params, response: { 200: response } },
      },
      async (request) =>
        presentVariable(await variables.read(callerOf(request).accountId, request.params.key)),
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:key`,
      config: ADMIN,
      schema: {
        tags: TAGS,
        summary: 'Update a variable',
        description: 'Fields that are left out stay as they are.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        return presentVariable(await variables.update(accountId, request.params.key, request.body));
      },
    });

    app.delete(
      `${PATH}/:key`,
      {
        config: ADMIN,
        schema: { tags: TAGS, summary: 'Delete a variable', params, response: { 204: NO_CONTENT } },
      },
      async (request, reply) => {
        await variables.remove(callerOf(request).accountId, request.params.key);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentVariable(stored: StoredVariable): z.output<typeof response> {
  return {
    key: stored.key,
    value: stored.value,
    locked: stored.locked,
    secret: stored.secret,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt?.toISOString() ?? null,
  };
}
