import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { booleanQuery, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import type { ErrorGroup, ErrorGroups } from './error-groups.ts';
import {
  archiveChangesOf,
  errorGroupChanges,
  errorGroupFields,
  presentErrorGroup,
  UPDATE_DESCRIPTION,
} from './schemas.ts';

const TAGS = ['Error groups'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/error-groups';

const params = z.object({ id: uuidParam.describe('One of errorGroupIds of a result.') });
const response = z.strictObject({ ...errorGroupFields, checkId: z.string() });
const query = z.strictObject({
  ...pageQuery,
  checkId: checkId.describe('The check that failed.'),
  archived: booleanQuery(false)
    .unwrap()
    .optional()
    .describe('true: only archived groups; false: only the others.'),
});

/** Error groups of checks: src/service/README.md, "Error groups and test sessions", 4.16, 4.17. */
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
          tags: TAGS,
          summary: 'List the error groups of a check, most recently seen first',
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { checkId: scope, archived = null, ...page } = request.query;
        const { accountId } = callerOf(request);
        const asked = { scope, isArchived: archived, ...page };
        return (await errorGroups.list(accountId, 'check', asked)).map(present);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: { tags: TAGS, summary: 'Read an error group', params, response: { 200: response } },
      },
      async (request) =>
        present(await errorGroups.get(callerOf(request).accountId, 'check', request.params.id)),
    );

    app.patch(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Archive or unarchive an error group',
          description: UPDATE_DESCRIPTION,
          params,
          body: errorGroupChanges,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const changes = archiveChangesOf(request.body);
        return present(await errorGroups.update(accountId, 'check', request.params.id, changes));
      },
    );
  };
}

function present(group: ErrorGroup): z.output<typeof response> {
  return { ...presentErrorGroup(group), checkId: group.scope };
}
