import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { checkGroupFields } from '../../model/check/check-group.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { numberParam, pageQuery } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import { numberIdOf } from '../http/resources/shown-fields.ts';
import { warningsSchema } from '../http/resources/warnings.ts';
import type { CheckGroups, GroupView } from './check-groups.ts';

const changes = z.strictObject({
  ...optionalFieldsOf(checkGroupFields.shape),
  ...ignored(['created_at', 'updated_at', 'warnings']),
  id: z.number().optional().describe('The same as in the path.'),
});
const body = checkGroupFields.extend(ignored(['warnings']));
const response = checkGroupFields.extend({
  id: numberIdOf('the group'),
  ...TIMES,
  warnings: warningsSchema,
});

/** Groups of checks, and the settings that their checks share. */
export function checkGroupsRoutes({
  checkGroups,
}: {
  readonly checkGroups: CheckGroups;
}): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/check-groups',
    resource: 'CheckGroup',
    tag: 'Check groups',
    changing: { role: 'write' },
    id: { name: 'id', schema: numberParam.describe('The id of the group.') },
    query: z.strictObject(pageQuery),
    body,
    changes,
    response,
    texts: {
      create: { summary: 'Create a group' },
      list: { summary: 'List groups, oldest first' },
      read: { summary: 'Read a group' },
      update: {
        summary: 'Update a group',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole.',
      },
      remove: { summary: 'Delete a group; its checks stay, without a group' },
    },
    feature: checkGroups,
    present: presentGroup,
  });
}

function presentGroup({
  id,
  fields,
  createdAt,
  updatedAt,
  warnings = [],
}: GroupView): z.output<typeof response> {
  return {
    ...fields,
    id,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}
