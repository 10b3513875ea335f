import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { CREATE, READ } from '../http/access/route-roles.ts';
import { whileClientWaits } from '../http/request-signal.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { queryNumber, uuidParam } from '../http/resources/parameters.ts';
import { checkTypeOf, createdAt, idOf, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { shownResult } from '../results/result-schemas.ts';
import { explanation } from '../results/runs/explanation-schema.ts';
import { type CheckTrials, TRIAL_STATES, type Trial } from './check-trials.ts';

const TAGS = ['Check trials'];
const PATH = '/v1/check-trials';
/** Each makes an agent send a request. */
const CREATED_PER_MINUTE = 30;
const MAX_WAIT_SECONDS = 20;

const body = z.strictObject({
  location: z
    .string()
    .min(1)
    .max(255)
    .describe(
      'The slug of the private location whose agents try the check. It need not be one of the check.',
    ),
  checkId: checkId
    .nullable()
    .default(null)
    .describe(
      'The id of the check that would be changed; null for a new check. With it, omitted fields of `check` and masked secrets keep the stored values, as in PUT /v1/checks/{id}.',
    ),
  check: z
    .record(z.string(), z.unknown())
    .describe(
      'The check, as the body of POST /v1/checks; with a `checkId` of PUT /v1/checks/{id}.',
    ),
});

const query = z.strictObject({
  waitSeconds: z
    .preprocess(queryNumber, z.int().min(0).max(MAX_WAIT_SECONDS))
    .default(0)
    .describe(
      `How long the response may wait until the state changes, 0 to ${MAX_WAIT_SECONDS}. Default: 0.`,
    ),
});

const response = z
  .strictObject({
    id: idOf('the trial'),
    state: z
      .enum(TRIAL_STATES)
      .describe(
        '`waiting` for an agent, `running` at one, `finished` with a result, `missed`: the agent did not run it, `expired`: no agent ran it in time or its result did not come.',
      ),
    checkId: z.string().nullable().describe('The check that would be changed.'),
    name: SHOWN_CHECK.name,
    checkType: checkTypeOf(RUNNABLE_CHECK_TYPES),
    target: z.string().describe('Where its request goes, without credentials.'),
    location: z.string().describe('The private location.'),
    created_at: createdAt,
    startBy: z.iso.datetime().describe('The run expires if no agent has taken it by then.'),
    endedAt: z.iso.datetime().nullable().describe('When it ended; null until then.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it was missed or expired: a reason of missed slots, `refused`, `invalid_result`, `not_started`, `agent_lost` or `no_result`.',
      ),
    message: z.string().nullable().describe('The reason in words, with what to do.'),
    result: shownResult
      .nullable()
      .describe('Its result, in the form of check results; `checkId` is the id of the trial.'),
    explanation: explanation.nullable().describe('Why the result is as it is.'),
  })
  .meta({ title: 'CheckTrial' });

/** Checks that are tried before they are saved: src/service/README.md, "Trials of checks". */
export function checkTrialsRoutes({
  checkTrials,
  stopping,
}: {
  readonly checkTrials: Pick<CheckTrials, 'create' | 'get' | 'waitFor'>;
  /** Aborts when the service stops: held responses then end at once. */
  readonly stopping: AbortSignal;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        // Not `run`: it makes an agent send any request, which only a check of the role `write` can do.
        config: { ...CREATE, rateLimit: { max: CREATED_PER_MINUTE } },
        schema: {
          tags: TAGS,
          operationId: 'createCheckTrial',
          summary: 'Try a check that is not saved',
          description:
            'Runs the check once at a connected agent of the location, without retries, artifacts, trace and capture. It changes no status, sends no alert and is in no statistics. The response is sent before the run: read the trial by its id until it has ended.',
          body,
          response: { 201: response.describe('The trial, which waits for an agent.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const trial = await checkTrials.create(accountId, request.body);
        return reply.code(201).header('location', `${PATH}/${trial.id}`).send(presentTrial(trial));
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckTrial',
          summary: 'Read a trial of a check',
          description: 'Kept for an hour, and at most the newest 100 of an account.',
          params: z.object({ id: uuidParam }),
          querystring: query,
          response: { 200: response },
        },
      },
      async (request, reply) => {
        const key = keyOf(request);
        const { waitSeconds = 0 } = request.query;
        if (waitSeconds === 0) return presentTrial(await checkTrials.get(key));
        const trial = await whileClientWaits(reply, stopping, (signal) =>
          checkTrials.waitFor(key, waitSeconds * 1_000, signal),
        );
        return presentTrial(trial);
      },
    );
  };
}

function presentTrial(trial: Trial): z.output<typeof response> {
  const {
    locationId: _,
    createdAt,
    startBy,
    endedAt,
    checkType,
    result,
    explanation: why,
    ...rest
  } = trial;
  return {
    ...rest,
    checkType: checkType as z.output<typeof response>['checkType'],
    created_at: createdAt.toISOString(),
    startBy: startBy.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    result: result === null ? null : JSON.parse(result),
    explanation: why as z.output<typeof explanation> | null,
  };
}
