import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { idOf, runLocation, runStartedAt, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { type ErrorGroup, type ErrorGroups, type FailedRun, MAX_FAILURES } from './error-groups.ts';
import {
  archivedQuery,
  errorGroupFields,
  presentErrorGroup,
  readAndArchiveRoutes,
} from './shared.routes.ts';

const TAG = 'Error groups';
const PATH = '/v1/error-groups';

const groupId = uuidParam.describe('One of errorGroupIds of a result.');
const response = z.strictObject({
  ...errorGroupFields,
  checkId: SHOWN_CHECK.checkId,
  checkName: z.string().nullable().describe('null if the check is gone.'),
});
const failedRun = z
  .strictObject({
    resultId: idOf('the final result of the run'),
    location: runLocation,
    startedAt: runStartedAt,
  })
  .nullable();
const occurrences = z.strictObject({
  checkId: SHOWN_CHECK.checkId,
  first: failedRun.describe('The earliest failed run whose result is stored; null if none is.'),
  last: failedRun.describe('The latest.'),
  locations: z.array(z.string()).describe('Where these and the runs between them were.'),
});
const query = z.strictObject({
  ...pageQuery,
  checkId: checkId.optional().describe('Only the groups of this check. Default: of all checks.'),
  archived: archivedQuery,
});

/** Error groups of checks: src/service/README.md, "Error groups and test sessions". */
export function errorGroupsRoutes({
  errorGroups,
}: {
  readonly errorGroups: Pick<ErrorGroups, 'get' | 'list' | 'update' | 'occurrences'>;
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
          summary: 'List the error groups of checks, most recently seen first',
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { checkId: scope = null, archived = null } = request.query;
        const { accountId } = callerOf(request);
        const asked = { scope, isArchived: archived, ...pageOf(request, reply) };
        return (await errorGroups.list(accountId, 'check', asked)).map(present);
      },
    );

    app.get(
      `${PATH}/:id/occurrences`,
      {
        config: READ,
        schema: {
          tags: [TAG],
          operationId: 'getErrorGroupOccurrences',
          summary: 'Read where and when the failed runs of an error group were',
          description: `Searches the first and the last ${MAX_FAILURES} failed runs of the check between \`firstSeen\` and \`lastSeen\` of the group.`,
          params: z.object({ id: groupId }),
          response: { 200: occurrences },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const found = await errorGroups.occurrences(accountId, request.params.id);
        const { checkId: ofCheck, first, last, locations } = found;
        return {
          checkId: ofCheck,
          first: presentRun(first),
          last: presentRun(last),
          locations: [...locations],
        };
      },
    );

    await app.register(
      readAndArchiveRoutes({
        path: PATH,
        tag: TAG,
        kind: 'check',
        id: groupId,
        response,
        resource: 'ErrorGroup',
        summaries: { read: 'Read an error group', archive: 'Archive or unarchive an error group' },
        errorGroups,
        present,
      }),
    );
  };
}

function presentRun(run: FailedRun | null) {
  return run === null ? null : { ...run, startedAt: run.startedAt.toISOString() };
}

function present(group: ErrorGroup): z.output<typeof response> {
  return { ...presentErrorGroup(group), checkId: group.scope, checkName: group.checkName };
}
