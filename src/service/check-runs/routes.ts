import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { uuidParam } from '../http/resources/parameters.ts';
import { createdAt, idOf, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { CHECK_RUN_STATES, type CheckRun, type CheckRuns, RUN_REASONS } from './check-runs.ts';

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
        'The slug of one of the private locations of the check. Default: the first that has a connected agent.',
      ),
  })
  .nullish()
  .transform((given) => given ?? { location: null });

const fields = {
  id: idOf('the run'),
  checkId: SHOWN_CHECK.checkId,
  location: z.string().describe('The private location that makes the run.'),
  reason: z
    .enum(RUN_REASONS)
    .describe('`requested` by an API call, or `retry`: another location handed it over.'),
  state: z
    .enum(CHECK_RUN_STATES)
    .describe(
      '`waiting` for an agent, `assigned` to one, `done`: its final result is stored, `expired`: no agent made it in time, `cancelled` on request.',
    ),
  slot: z.iso.datetime().describe('When it is due, which identifies it.'),
  checkRunId: z.number().describe('The `checkRunId` of its results: the slot in milliseconds.'),
  sequenceId: z.string().describe('The `sequenceId` of its results.'),
  created_at: createdAt,
  notAfter: z.iso.datetime().describe('The run does not start after this time.'),
  resultId: z
    .string()
    .nullable()
    .describe(
      'The id of its final result; null until it is stored. A run that was cancelled before an agent had it stays without one.',
    ),
};
const response = z.strictObject(alsoAs(fields, 'createdAt'));

/** Requested runs, and their outcome. */
export function checkRunsRoutes({
  checkRuns,
}: {
  readonly checkRuns: Pick<CheckRuns, 'request' | 'get' | 'cancel'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/checks/:id/run',
      {
        config: { ...RUN, audit: { none: 'a run changes nothing, and the run itself is kept' } },
        schema: {
          tags: TAGS,
          operationId: 'runCheck',
          summary: 'Run a check once, now',
          description:
            'Runs the check outside its schedule, with retries, even if it is deactivated. The response is sent before the run. Read the run by its id once a second until its state is `done`, `expired` or `cancelled`, or follow `check_run.finished` of `/v1/events`; `resultId` is then the id of its result.',
          params: z.object({ id: checkId }),
          body,
          response: { 201: response.describe('The run, which waits for an agent.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const run = await checkRuns.request(accountId, request.params.id, request.body);
        return reply.code(201).header('location', `/v1/check-runs/${run.id}`).send(presentRun(run));
      },
    );

    app.get(
      '/v1/check-runs/:id',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckRun',
          summary: 'Read the outcome of a run',
          description: 'Retained for RETENTION_DAYS + 2 days.',
          params: z.object({ id: uuidParam }),
          response: { 200: response },
        },
      },
      async (request) => presentRun(await checkRuns.get(keyOf(request))),
    );

    app.delete(
      '/v1/check-runs/:id',
      {
        config: { ...RUN, audit: { action: 'cancel' } },
        schema: {
          tags: TAGS,
          operationId: 'cancelCheckRun',
          summary: 'Cancel a run',
          description:
            'Cancels a requested run that is waiting or active, with its retries. Its state is `cancelled` at once. If an agent had it, a final result with `isCancelled` follows, which has no effect on the status, the alerts and the statistics of the check. The response is 409 if the run has ended, or if it is a retry of a scheduled run (`attributes.reason` is `ended` or `scheduled`), and 204 if it was cancelled before.',
          params: z.object({ id: uuidParam }),
          response: { 204: z.null().describe('Cancelled.') },
        },
      },
      async (request, reply) => {
        await checkRuns.cancel(keyOf(request));
        return reply.code(204).send(null);
      },
    );
  };
}

function presentRun(run: CheckRun): z.output<typeof response> {
  const { createdAt, ...rest } = run;
  const shown = {
    ...rest,
    slot: run.slot.toISOString(),
    checkRunId: run.slot.getTime(),
    created_at: createdAt.toISOString(),
    notAfter: run.notAfter.toISOString(),
  };
  return withOldNames(shown, 'createdAt');
}
