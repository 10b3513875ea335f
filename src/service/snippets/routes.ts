import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { snippetSchema } from '../../model/account/snippet.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { numberParam, pageQuery } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import { numberIdOf } from '../http/resources/shown-fields.ts';
import type { Snippets, StoredSnippet } from './snippets.ts';

const response = z.strictObject({
  id: numberIdOf('the snippet'),
  ...snippetSchema.shape,
  ...TIMES,
});
const changes = z.strictObject({
  ...optionalFieldsOf(snippetSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.number().optional().describe('The same as in the path.'),
});

/** Stored pieces of code: src/service/README.md, "Snippets". */
export function snippetsRoutes({ snippets }: { readonly snippets: Snippets }): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/snippets',
    resource: 'Snippet',
    tag: 'Snippets',
    changing: { role: 'write' },
    id: { name: 'id', schema: numberParam.describe('The id of the snippet.') },
    query: z.strictObject(pageQuery),
    body: snippetSchema,
    changes,
    response,
    texts: {
      create: { summary: 'Create a snippet' },
      list: { summary: 'List snippets, oldest first' },
      read: { summary: 'Read a snippet' },
      update: {
        summary: 'Update a snippet',
        description: 'Omitted fields do not change.',
      },
      remove: { summary: 'Delete a snippet' },
    },
    feature: snippets,
    present: presentSnippet,
  });
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
