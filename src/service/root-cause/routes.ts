import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CHECK_ID } from '../../model/ids.ts';
import { analysisRequestSchema, analysisSchema } from '../../model/result/root-cause-analysis.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import type { RootCauseAnalyses, StoredAnalysis } from './root-cause-analyses.ts';

const TAGS = ['Root cause analyses'];
const READ = { role: 'read' } as const;
const RUN = { role: 'run' } as const;
const PATH = '/v1/root-cause-analyses';
/** Each looks at a week of results. */
const REQUESTS_PER_MINUTE = 60;

const analysisId = idOf('the analysis');
const pending = z
  .strictObject({
    id: analysisId,
    status: z.literal('PENDING').describe('It is being made: ask again.'),
  })
  .meta({ title: 'PendingRootCauseAnalysis' })
  .describe('The analysis, which is in progress: read it until it is complete.');
/** src/service/README.md, "Root cause analyses". */
const completed = z
  .strictObject({
    id: analysisId,
    checkId: z.string().nullable().describe('The id of the check; null if the check is gone.'),
    checkName: z.string().nullable().describe('null if the check is gone.'),
    resultId: z.string().describe('The result of the failed run.'),
    errorGroupId: z.string().nullable().describe('The error group of the failure; null for none.'),
    checkType: z.string().describe('The type of the check.'),
    provider: z
      .string()
      .describe('Who made it: `rules`, or `openai` for a model behind an OpenAI-compatible API.'),
    model: z.string().describe('The model that made it; for `rules`, their version.'),
    durationMs: z.number().describe('How long it took to make it.'),
    status: z.literal('COMPLETED').describe('It is complete.'),
    created_at: z.iso.date().describe('The day of its creation, in UTC.'),
    analysis: analysisSchema.describe('What was found.'),
  })
  .meta({ title: 'RootCauseAnalysis' });

const listQuery = z.strictObject({
  checkId: z.string().regex(CHECK_ID).optional().describe('Only those of this check.'),
  errorGroupId: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/)
    .optional()
    .describe('Only those of this error group.'),
  ...pageQuery,
});

/** Why checks fail: src/service/README.md, "Root cause analyses". */
export function rootCauseAnalysesRoutes({
  rootCauseAnalyses,
}: {
  readonly rootCauseAnalyses: RootCauseAnalyses;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: {
          ...RUN,
          rateLimit: { max: REQUESTS_PER_MINUTE },
          audit: { none: 'an analysis changes nothing, and the analysis itself is kept' },
        },
        schema: {
          tags: TAGS,
          operationId: 'createRootCauseAnalysis',
          summary: 'Ask why a check fails',
          description:
            'Analyses a stored failure and the results around it. The response is sent before the analysis is complete: read it at `Location` until it is COMPLETED, which takes a second or, with a model, up to some minutes. If the model fails or has reached its daily limit, the rules make the analysis.',
          body: analysisRequestSchema,
          response: { 202: pending },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { id } = await rootCauseAnalyses.create(accountId, request.body);
        return reply.code(202).header('location', `${PATH}/${id}`).send({ id, status: 'PENDING' });
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listRootCauseAnalyses',
          summary: 'List completed root cause analyses, newest first',
          querystring: listQuery,
          response: { 200: z.array(completed) },
        },
      },
      async (request, reply) => {
        const { checkId = null, errorGroupId = null } = request.query;
        const page = pageOf(request, reply);
        const { accountId } = callerOf(request);
        const found = await rootCauseAnalyses.list(accountId, { checkId, errorGroupId, ...page });
        return found.flatMap((one) => presentCompleted(one) ?? []);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getRootCauseAnalysis',
          summary: 'Read a root cause analysis',
          description: '202 while it is being made. Kept as long as results are.',
          params: z.object({ id: uuidParam }),
          response: { 200: completed, 202: pending },
        },
      },
      async (request, reply) => {
        const found = await rootCauseAnalyses.read(keyOf(request));
        const whole = presentCompleted(found);
        if (whole !== null) return reply.code(200).send(whole);
        return reply.code(202).send({ id: found.id, status: 'PENDING' });
      },
    );
  };
}

function presentCompleted(stored: StoredAnalysis): z.output<typeof completed> | null {
  const { id, checkId, checkName, resultId, errorGroupId, checkType, createdAt, made } = stored;
  if (made === null) return null;
  return {
    id,
    checkId,
    checkName,
    resultId,
    errorGroupId,
    checkType,
    provider: made.provider,
    model: made.model,
    durationMs: made.durationMs,
    status: 'COMPLETED',
    created_at: createdAt.toISOString().slice(0, 10),
    analysis: made.analysis,
  };
}
