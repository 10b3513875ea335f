import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { snippetSchema } from '../../../model/snippet.ts';
import type { Snippets, StoredSnippet } from '../../features/snippets.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, numberParam, pageQuery } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Snippets'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/snippets';

const params = z.object({ id: numberParam.describe('The id of the snippet.') });
const response = z.strictObject({ id: z.number(), ...snippetSchema.shape, ...TIMES });
const changes = z.strictObject({
  ...optionalFieldsOf(snippetSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.number().optional().describe('The same as in the path.'),
});

/** Pieces of code for others to use: spec 4.19. */
export function snippetsRoutes({ snippets }: { readonly snippets: Snippets }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Create a snippet',
          body: snippetSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await snippets.create(callerOf(request).accountId, request.body);
        return reply.code(201).send(presentSnippet(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List snippets, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const found = await snippets.list(callerOf(request).accountId, request.query);
        return found.map(presentSnippet);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: { tags: TAGS, summary: 'Read a snippet', params, response: { 200: response } },
      },
      async (request) =>
        presentSnippet(await snippets.read(callerOf(request).accountId, request.params.id)),
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:id`,
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Update a snippet',
        description: 'Fields that are left out stay as they are.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        return presentSnippet(await snippets.update(accountId, request.params.id, request.body));
      },
    });

    app.delete(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: { tags: TAGS, summary: 'Delete a snippet', params, response: { 204: NO_CONTENT } },
      },
      async (request, reply) => {
        await snippets.remove(callerOf(request).accountId, request.params.id);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentSnippet({
  id,
  fields,
  createdAt,
  updatedAt,
}: StoredSnippet): z.output<typeof response> {
  return {
    id,
    ...fields,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}
