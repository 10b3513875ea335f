import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUN_RESULTS } from '../../../model/result/run-result.ts';
import { id } from '../../../wire/v1/fields.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { checkId } from '../../http/resources/check-parameters.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { repeatable } from '../../http/resources/parameters.ts';
import { idOf } from '../../http/resources/shown-fields.ts';
import { parseWindow, windowQuery } from '../../http/resources/window-parameters.ts';
import { attempt, explanation, presentExplanation, slot } from './explanation-schema.ts';
import type { RunSummary, Runs } from './runs.ts';

const TAGS = ['Check results'];
const READ = { role: 'read' } as const;

const query = z.strictObject({
  ...windowQuery,
  location: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Only runs that ended in this location.'),
  result: repeatable(z.enum(RUN_RESULTS), RUN_RESULTS.length).describe(
    'Only runs that ended so; repeated, in any of these ways.',
  ),
});

const run = z
  .strictObject({
    ...attempt.shape,
    slot,
    sequenceId: idOf('the run, as in its results'),
    retried: z.array(attempt).describe('The attempts before the last one, in order.'),
  })
  .meta({ title: 'RunSummary' });

/** Runs with their retries folded, and why they ended so: src/service/README.md, "Check results". */
export function runsRoutes({ runs }: { readonly runs: Runs }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/checks/:checkId/runs',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listRuns',
          summary: 'List the runs of a check with their retries folded, newest first',
          params: z.object({ checkId }),
          querystring: query,
          response: { 200: z.array(run) },
        },
      },
      async (request, reply) => {
        const { location, result, ...window } = request.query;
        const { accountId } = callerOf(request);
        const page = pageOf(request, reply);
        const found = await runs.list(accountId, request.params.checkId, {
          location: location ?? null,
          results: result.length === 0 ? null : result,
          ...page,
          ...parseWindow(window, page.begunMs),
        });
        return found.map(presentRun);
      },
    );

    app.get(
      '/v1/check-results/:checkId/:id/explanation',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'explainCheckResult',
          summary: 'Read why a result is as it is, what to try, and which run passed before it',
          params: z.object({ checkId, id: id.describe('The id of the result.') }),
          response: { 200: explanation },
        },
      },
      async (request) => {
        const { checkId: of, id: resultId } = request.params;
        return presentExplanation(await runs.explain(callerOf(request).accountId, of, resultId));
      },
    );
  };
}

function presentRun({ slotMs, retried, ...summary }: RunSummary): z.output<typeof run> {
  return { ...summary, slot: new Date(slotMs).toISOString(), retried: [...retried] };
}
