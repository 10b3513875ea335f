import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUN_RESULTS } from '../../../model/result/run-result.ts';
import { id } from '../../../wire/v1/fields.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { checkId } from '../../http/resources/check-parameters.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { repeatable } from '../../http/resources/parameters.ts';
import { parseWindow, windowQuery } from '../../http/resources/window-parameters.ts';
import type { Explanation, RunSummary, Runs } from './runs.ts';

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

const attempt = z
  .strictObject({
    resultId: z.string(),
    number: z.number().describe('From 1.'),
    location: z.string(),
    result: z.enum(RUN_RESULTS),
    startedAt: z.iso.datetime(),
    responseTime: z.number().describe('Milliseconds.'),
    errorCode: z.string().nullable().describe('One of the error codes; null if there is none.'),
    response: z
      .string()
      .nullable()
      .describe('The response of the target in a few words; null if there was none.'),
    reason: z.string().nullable().describe('The first reason for which it did not pass.'),
  })
  .meta({ title: 'AttemptSummary' });

const slot = z.iso.datetime().describe('When it was due.');
const run = z
  .strictObject({
    ...attempt.shape,
    slot,
    sequenceId: z.string(),
    retried: z.array(attempt).describe('The attempts before the last one, in order.'),
  })
  .meta({ title: 'RunSummary' });

const explanation = z
  .strictObject({
    resultId: z.string(),
    result: z.enum(RUN_RESULTS),
    reasons: z.array(z.string()).describe('Why it did not pass, the first one first.'),
    errorCode: z.string().nullable(),
    meaning: z.string().nullable().describe('What the error code means.'),
    phase: z.string().nullable().describe('Where it failed or was slow, such as `dns`.'),
    advice: z.string().nullable().describe('What to try first.'),
    attempts: z
      .array(attempt)
      .describe('All stored attempts of its run in order, itself included.'),
    lastPassing: z
      .strictObject({ ...attempt.shape, slot })
      .nullable()
      .describe('The last run before it that passed and was not degraded.'),
  })
  .meta({ title: 'ResultExplanation' });

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

function presentExplanation(found: Explanation): z.output<typeof explanation> {
  const { advice, lastPassing, reasons, attempts, ...rest } = found;
  return {
    ...rest,
    reasons: [...reasons],
    attempts: [...attempts],
    phase: advice?.phase ?? null,
    advice: advice?.advice ?? null,
    lastPassing: lastPassing === null ? null : withSlot(lastPassing),
  };
}

function withSlot({ slotMs, ...summary }: NonNullable<Explanation['lastPassing']>) {
  return { ...summary, slot: new Date(slotMs).toISOString() };
}
