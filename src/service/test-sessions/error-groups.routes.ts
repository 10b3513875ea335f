import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { projectIdSchema } from '../../model/result/test-session.ts';
import type { ErrorGroup, ErrorGroups } from '../error-groups/error-groups.ts';
import {
  archiveChangesOf,
  errorGroupChanges,
  errorGroupFields,
  presentErrorGroup,
  UPDATE_DESCRIPTION,
} from '../error-groups/schemas.ts';
import { callerOf } from '../http/access/authentication.ts';
import { booleanQuery, pageQuery, uuidParam } from '../http/resources/parameters.ts';

const TAGS = ['Test session error groups'];
const READ = { role: 'read' } as const;
const WRITE = { role: 'write' } as const;
const PATH = '/v1/test-session-error-groups';
/** The specification shows no limit here, so the default is the largest page. */
const DEFAULT_LIMIT = 100;

const params = z.object({ id: uuidParam.describe('One of errorGroupIds of a test session.') });
const response = z.strictObject({
  ...errorGroupFields,
  projectId: z.string().nullable().describe('null for sessions without a project.'),
  environments: z
    .array(z.string())
    .nullable()
    .describe('The environments of the failed runs, sorted; null where no session has one.'),
  pwtMetadata: z.null().describe('Always null.'),
});
const query = z.strictObject({
  page: pageQuery.page,
  limit: pageQuery.limit
    .unwrap()
    .default(DEFAULT_LIMIT)
    .describe(`How many at most, 1 to 100; if omitted, ${DEFAULT_LIMIT}.`),
  archived: booleanQuery(false)
    .unwrap()
    .optional()
    .describe('true: only archived groups; false: only the others.'),
});

/** Error groups of test sessions: src/service/README.md, "Error groups and test sessions", 4.15. */
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
          tags: TAGS,
          summary: 'List the error groups of a project; those that were seen last come first',
          params: z.object({ projectId: projectIdSchema }),
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { archived = null, ...page } = request.query;
        const { accountId } = callerOf(request);
        const asked = { scope: request.params.projectId, isArchived: archived, ...page };
        return (await errorGroups.list(accountId, 'test-session', asked)).map(present);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read an error group of test sessions',
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return present(await errorGroups.get(accountId, 'test-session', request.params.id));
      },
    );

    app.patch(
      `${PATH}/:id`,
      {
        config: WRITE,
        schema: {
          tags: TAGS,
          summary: 'Archive an error group of test sessions, or take it back',
          description: UPDATE_DESCRIPTION,
          params,
          body: errorGroupChanges,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const { id } = request.params;
        const changes = archiveChangesOf(request.body);
        return present(await errorGroups.update(accountId, 'test-session', id, changes));
      },
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
