import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { checkId, READ } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import type { ErrorGroup, ErrorGroups } from './error-groups.ts';
import {
  archivedQuery,
  errorGroupFields,
  presentErrorGroup,
  readAndArchiveRoutes,
} from './shared.routes.ts';

const TAG = 'Error groups';
const PATH = '/v1/error-groups';

const response = z.strictObject({ ...errorGroupFields, checkId: z.string() });
const query = z.strictObject({
  ...pageQuery,
  checkId: checkId.describe('The check that failed.'),
  archived: archivedQuery,
});

/** Error groups of checks: src/service/README.md, "Error groups and test sessions". */
export function errorGroupsRoutes({
  errorGroups,
}: {
  readonly errorGroups: Pick<ErrorGroups, 'get' | 'list' | 'update'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: [TAG],
          operationId: 'listErrorGroups',
          summary: 'List the error groups of a check, most recently seen first',
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { checkId: scope, archived = null } = request.query;
        const { accountId } = callerOf(request);
        const asked = { scope, isArchived: archived, ...pageOf(request, reply) };
        return (await errorGroups.list(accountId, 'check', asked)).map(present);
      },
    );

    await app.register(
      readAndArchiveRoutes({
        path: PATH,
        tag: TAG,
        kind: 'check',
        id: uuidParam.describe('One of errorGroupIds of a result.'),
        response,
        resource: 'ErrorGroup',
        summaries: { read: 'Read an error group', archive: 'Archive or unarchive an error group' },
        errorGroups,
        present,
      }),
    );
  };
}

function present(group: ErrorGroup): z.output<typeof response> {
  return { ...presentErrorGroup(group), checkId: group.scope };
}
