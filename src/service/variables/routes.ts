import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { accountVariableSchema, variableKeySchema } from '../../model/check/variable.ts';
import type { Viewer } from '../http/access/viewer.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import type { StoredVariable, Variables } from './variables.ts';

const { shape } = accountVariableSchema;
const response = z.strictObject({
  key: shape.key,
  value: shape.value
    .nullable()
    .describe('null if it is secret, and if it is locked for roles that may not write.'),
  locked: z
    .boolean()
    .describe(
      'Hides the value from the roles `read` and `run`, from the audit log, and in user interfaces.',
    ),
  secret: z.boolean().describe('Whether the value is encrypted, and never in a response.'),
  ...TIMES,
});
const changes = z.strictObject({
  ...optionalFieldsOf(shape),
  ...ignored(['created_at', 'updated_at']),
  key: z.string().optional().describe('The same as in the path.'),
  value: shape.value
    .nullable()
    .optional()
    .describe('null, as in responses of secret variables, keeps the stored value.'),
});

/** The values for templates in checks: src/model/README.md, "Variables and secrets". */
export function variablesRoutes({
  variables,
}: {
  readonly variables: Variables;
}): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/variables',
    resource: 'Variable',
    tag: 'Variables',
    // Variables decide what every check sends, and where.
    changing: { role: 'admin' },
    id: { name: 'key', schema: variableKeySchema },
    query: z.strictObject(pageQuery),
    body: accountVariableSchema,
    changes,
    response,
    texts: {
      create: { summary: 'Create a variable' },
      list: { summary: 'List variables by their keys' },
      read: { summary: 'Read a variable' },
      update: {
        summary: 'Update a variable',
        description: 'Omitted fields do not change.',
      },
      remove: { summary: 'Delete a variable' },
    },
    feature: variables,
    present: presentVariable,
  });
}

function presentVariable(stored: StoredVariable, { mayWrite }: Viewer): z.output<typeof response> {
  return {
    key: stored.key,
    value: stored.locked && !mayWrite ? null : stored.value,
    locked: stored.locked,
    secret: stored.secret,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt?.toISOString() ?? null,
  };
}
