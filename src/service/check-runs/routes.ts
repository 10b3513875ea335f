import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { checkId, READ } from '../http/resources/check-parameters.ts';
import { uuidParam } from '../http/resources/parameters.ts';
import { type CheckRun, type CheckRuns, RUN_REASONS, RUN_STATES } from './check-runs.ts';

const TAGS = ['Check runs'];
const RUN = { role: 'run' } as const;

const body = z
  .strictObject({
    location: z
      .string()
      .min(1)
      .max(255)
      .nullable()
      .default(null)
      .describe(
        'The slug of one of the private locations of the check. Left out, the first that has an agent connected.',
      ),
  })
  .nullish()
  .transform((given) => given ?? { location: null });

const response = z.strictObject({
  id: z.string(),
  checkId: z.string(),
  location: z.string().describe('The private location that is to make the run.'),
  reason: z
    .enum(RUN_REASONS)
    .describe('`requested`: somebody asked for it. `retry`: another location handed it over.'),
  state: z
    .enum(RUN_STATES)
    .describe(
      '`waiting` for an agent, `assigned` to one, `done`: its final result is in, `expired`: nobody made it in time.',
    ),
  slot: z.iso
    .datetime()
    .describe('Names the run: `checkRunId` of its results, as a time and not as milliseconds.'),
  sequenceId: z.string().describe('That of its results.'),
  createdAt: z.iso.datetime(),
  notAfter: z.iso.datetime().describe('From then on it is not started any more.'),
  resultId: z.string().nullable().describe('The id of its final result; null until it is in.'),
});

/** Runs on request, and what became of them. */
export function checkRunsRoutes({
  checkRuns,
}: {
  readonly checkRuns: Pick<CheckRuns, 'request' | 'get'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/checks/:id/run',
      {
        config: RUN,
        schema: {
          tags: TAGS,
          summary: 'Run a check once, now',
          description:
            'Runs outside the schedule, with retries, even if the check is deactivated. The response comes before the run: poll the run by its id until it is `done`.',
          params: z.object({ id: checkId }),
          body,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const run = await checkRuns.request(accountId, request.params.id, request.body);
        return reply.code(201).send(presentRun(run));
      },
    );

    app.get(
      '/v1/check-runs/:id',
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read the outcome of a run',
          description: 'Retained for seven days.',
          params: z.object({ id: uuidParam }),
          response: { 200: response },
        },
      },
      async (request) =>
        presentRun(await checkRuns.get(callerOf(request).accountId, request.params.id)),
    );
  };
}

function presentRun(run: CheckRun): z.output<typeof response> {
  return {
    id: run.id,
    checkId: run.checkId,
    location: run.location,
    reason: run.reason,
    state: run.state,
    slot: run.slot.toISOString(),
    sequenceId: run.sequenceId,
    createdAt: run.createdAt.toISOString(),
    notAfter: run.notAfter.toISOString(),
    resultId: run.resultId,
  };
}
