import type { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CHECK_TYPES } from '../../model/enums.ts';
import { id } from '../../wire/v1/fields.ts';
import { callerOf } from '../http/access/authentication.ts';
import { listResponse } from '../http/json/json-response.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { booleanQuery } from '../http/resources/parameters.ts';
import { parseWindow, windowQuery } from '../http/resources/window-parameters.ts';
import type { CheckResults } from './check-results.ts';
import { shownResult } from './result-schemas.ts';

const TAGS = ['Check results'];
const READ = { role: 'read' } as const;
/** src/service/README.md, "Errors and rate limits". */
const LISTS_PER_MINUTE = 60;
const PATH = '/v1/check-results/:checkId';

const params = z.object({ checkId });
const oneParams = params.extend({ id: id.describe('The id of the result.') });
const query = z.strictObject({
  ...windowQuery,
  location: z.string().min(1).max(255).optional().describe('Only results from this location.'),
  checkType: z
    .enum(CHECK_TYPES)
    .optional()
    .describe(
      'Only results of this type. There are none of AGENTIC, BROWSER, HEARTBEAT, MULTI_STEP and PLAYWRIGHT checks.',
    ),
  hasFailures: booleanQuery(false)
    .unwrap()
    .optional()
    .describe('true: only results of failed runs; false: only of passed runs.'),
  resultType: z
    .enum(['FINAL', 'ATTEMPT', 'ALL'])
    .default('FINAL')
    .describe('The last result of each run, those before it, or all. Default: FINAL.'),
});

/** The results that agents send: src/service/README.md, "Check results". */
export function checkResultsRoutes({
  checkResults,
}: {
  readonly checkResults: CheckResults;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: { ...READ, rateLimit: { max: LISTS_PER_MINUTE } },
        schema: {
          tags: TAGS,
          operationId: 'listCheckResults',
          summary: 'List the results of a check, newest first',
          description:
            'There is no `agenticCheckResult`, because no AGENTIC check runs here, and no `apiCheckResult` unless the check is of the type URL or API.',
          params,
          querystring: query,
          response: { 200: z.array(shownResult) },
        },
      },
      async (request, reply) => {
        const { location, checkType, hasFailures, resultType, ...window } = request.query;
        const { accountId } = callerOf(request);
        const page = pageOf(request, reply);
        const found = await checkResults.list(accountId, request.params.checkId, {
          location: location ?? null,
          checkType: checkType ?? null,
          hasFailures: hasFailures ?? null,
          resultType,
          ...page,
          ...parseWindow(window, page.begunMs),
        });
        return sendJson(reply, listResponse(reply, found));
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckResult',
          summary: 'Read one result of a check',
          params: oneParams,
          response: { 200: shownResult },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { params: named } = request;
        return sendJson(reply, await checkResults.get(accountId, named.checkId, named.id));
      },
    );
  };
}

/**
 * Sends stored results without validating them by the route's schema: they were validated when they were
 * received, and that would take longer than everything else.
 */
function sendJson(reply: FastifyReply, json: string | Readable): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json);
}
