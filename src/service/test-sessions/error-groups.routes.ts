import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { projectIdSchema } from '../../model/result/test-session.ts';
import type { ErrorGroup, ErrorGroups } from '../error-groups/error-groups.ts';
import {
  archivedQuery,
  errorGroupFields,
  presentErrorGroup,
  readAndArchiveRoutes,
} from '../error-groups/shared.routes.ts';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';

const TAG = 'Test session error groups';
const PATH = '/v1/test-session-error-groups';
/** The default is the largest page. */
const DEFAULT_LIMIT = 100;

const response = z.strictObject({
  ...errorGroupFields,
  projectId: z.string().nullable().describe('null for sessions without a project.'),
  environments: z
    .array(z.string())
    .nullable()
    .describe('The environments of the failed runs, sorted; null if no session has one.'),
  pwtMetadata: z.null().describe('Always null: test sessions here have no results of Playwright.'),
});
const query = z.strictObject({
  page: pageQuery.page,
  cursor: pageQuery.cursor,
  limit: pageQuery.limit
    .unwrap()
    .default(DEFAULT_LIMIT)
    .describe(`How many at most, 1 to 100; if omitted, ${DEFAULT_LIMIT}.`),
  archived: archivedQuery,
});

/** Error groups of test sessions: src/service/README.md, "Error groups and test sessions". */
export function testSessionErrorGroupsRoutes({
  errorGroups,
}: {
  readonly errorGroups: Pick<ErrorGroups, 'get' | 'list' | 'update'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      `${PATH}/projects/:projectId`,
      {
        config: READ,
        schema: {
          tags: [TAG],
          operationId: 'listTestSessionErrorGroups',
          summary: 'List the error groups of a project, most recently seen first',
          params: z.object({ projectId: projectIdSchema }),
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { archived = null } = request.query;
        const { accountId } = callerOf(request);
        const asked = {
          scope: request.params.projectId,
          isArchived: archived,
          ...pageOf(request, reply),
        };
        return (await errorGroups.list(accountId, 'test-session', asked)).map(present);
      },
    );

    await app.register(
      readAndArchiveRoutes({
        path: PATH,
        tag: TAG,
        kind: 'test-session',
        id: uuidParam.describe('One of errorGroupIds of a test session.'),
        response,
        resource: 'TestSessionErrorGroup',
        summaries: {
          read: 'Read an error group of test sessions',
          archive: 'Archive or unarchive an error group of test sessions',
        },
        errorGroups,
        present,
      }),
    );
  };
}

function present(group: ErrorGroup): z.output<typeof response> {
  return {
    ...presentErrorGroup(group),
    projectId: group.scope === '' ? null : group.scope,
    environments: group.environments === null ? null : [...group.environments],
    pwtMetadata: null,
  };
}
