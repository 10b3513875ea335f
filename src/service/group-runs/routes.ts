import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUN_RESULTS } from '../../model/result/run-result.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { numberParam, uuidParam } from '../http/resources/parameters.ts';
import { createdAt, idOf, numberIdOf, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import type { GroupRun, GroupRuns, StoredMember } from './group-runs.ts';
import { GROUP_VERDICTS, SKIP_REASONS } from './progress.ts';

const TAGS = ['Check group runs'];
const PATH = '/v1/check-group-runs';
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
        'The slug of the only private location to run in. Default: every private location of each check that has a connected agent, or else its first.',
      ),
  })
  .nullish()
  .transform((given) => given ?? { location: null });

const STATES = ['waiting', 'running', 'ended', 'cancelled'] as const;
const CHECK_RUN_STATES = [
  'pending',
  'waiting',
  'assigned',
  'done',
  'expired',
  'cancelled',
  'skipped',
] as const;

const checkOfRun = z.strictObject({
  checkId: SHOWN_CHECK.checkId,
  name: z.string().describe('The name of the check at the request.'),
  groupOrder: z.number().nullable().describe('At the request.'),
  location: z.string().nullable().describe('The private location; null if the check is not run.'),
  state: z
    .enum(CHECK_RUN_STATES)
    .describe(
      '`pending`: its run is not requested yet, `waiting` for an agent, `assigned` to one, `done`, `expired`: no agent made it in time, `cancelled`, `skipped`: see `reason`.',
    ),
  reason: z
    .enum(SKIP_REASONS)
    .nullable()
    .describe(
      'Why it is skipped: the check is `deactivated`, a `heartbeat`, has `no_location` to run in, `no_agent` of this location is connected, or `check_deleted`.',
    ),
  verdict: z.enum(RUN_RESULTS).nullable().describe('How its run ended; null until then.'),
  runId: z
    .string()
    .nullable()
    .describe('The id of its run for GET /v1/check-runs/{id}; null until it is started.'),
  resultId: z.string().nullable().describe('The id of its final result; null until it is stored.'),
});

const response = z
  .strictObject({
    id: idOf('the run'),
    groupId: numberIdOf('the group'),
    groupName: z.string().describe('The name of the group at the request.'),
    location: z.string().nullable().describe('The only private location to run in; null: all.'),
    state: z
      .enum(STATES)
      .describe(
        '`waiting`: no agent has begun a run, `running`, `ended`: all runs have ended, `cancelled`.',
      ),
    verdict: z
      .enum(GROUP_VERDICTS)
      .nullable()
      .describe(
        '`failed`: a run failed, `incomplete`: a run has no verdict, because it expired, was cancelled or its agent had a fault, `degraded`, `passed`. null until it has ended.',
      ),
    concurrency: z.number().describe('How many checks run at once in each location.'),
    requestedBy: z
      .strictObject({
        kind: z.enum(['key', 'user']).describe('Whether it was an API key or a user.'),
        id: idOf('the API key or the user'),
      })
      .describe('Who requested it.'),
    created_at: createdAt,
    endedAt: z.iso
      .datetime()
      .nullable()
      .describe('When the last of its runs ended, or it was cancelled; null until then.'),
    checks: z.array(checkOfRun).describe('Each check in each location, in their order.'),
  })
  .meta({ title: 'CheckGroupRun' });

/** Runs of groups: src/service/README.md, "Runs of a group". */
export function groupRunsRoutes({
  groupRuns,
}: {
  readonly groupRuns: Pick<GroupRuns, 'request' | 'get' | 'cancel'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/check-groups/:id/run',
      {
        config: { ...RUN, audit: { none: 'a run changes nothing, and the run itself is kept' } },
        schema: {
          tags: TAGS,
          operationId: 'runCheckGroup',
          summary: 'Run the checks of a group once, now',
          description:
            'Each location runs the checks independently of the others, in the order of `groupOrder`. Checks with the same `groupOrder` run concurrently, up to the `concurrency` of the group; those without one run last. A check that fails does not stop the others. Deactivated checks are skipped. The response is sent before the runs. Read the group run by its id until its state is `ended` or `cancelled`, or follow `group_run.finished` of `/v1/events`.',
          params: z.object({ id: numberParam.describe('The id of the group.') }),
          body,
          response: { 201: response.describe('The run of the group.') },
        },
      },
      async (request, reply) => {
        const { kind, id } = callerOf(request).by;
        const { location } = request.body;
        const run = await groupRuns.request(keyOf(request), {
          location,
          requestedBy: { kind, id },
        });
        return reply.code(201).header('location', `${PATH}/${run.id}`).send(presentGroupRun(run));
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckGroupRun',
          summary: 'Read the progress and the verdict of a run of a group',
          description: 'Retained for RETENTION_DAYS + 2 days.',
          params: z.object({ id: uuidParam }),
          response: { 200: response },
        },
      },
      async (request) => presentGroupRun(await groupRuns.get(keyOf(request))),
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { ...RUN, audit: { action: 'cancel' } },
        schema: {
          tags: TAGS,
          operationId: 'cancelCheckGroupRun',
          summary: 'Cancel a run of a group',
          description:
            'Cancels all of its runs that have not ended, as DELETE /v1/check-runs/{id} does, and makes no further ones. The response is 409 if the run of the group has ended, and 204 if it was cancelled before.',
          params: z.object({ id: uuidParam }),
          response: { 204: z.null().describe('Cancelled.') },
        },
      },
      async (request, reply) => {
        await groupRuns.cancel(keyOf(request));
        return reply.code(204).send(null);
      },
    );
  };
}

function presentGroupRun(run: GroupRun): z.output<typeof response> {
  const { members, createdAt, endedAt, requestedByKind, requestedById, ...rest } = run;
  const checks = members.map(presentMember);
  const isBegun = checks.some(
    ({ state }) => state !== 'pending' && state !== 'waiting' && state !== 'skipped',
  );
  return {
    ...rest,
    state: rest.state === 'running' && !isBegun ? 'waiting' : rest.state,
    requestedBy: { kind: requestedByKind, id: requestedById },
    created_at: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    checks,
  };
}

function presentMember(member: StoredMember): z.output<typeof checkOfRun> {
  const { n: _, locationId: __, runState, state, ...rest } = member;
  // A run that has ended is shown as assigned until its verdict is recorded, within a second.
  const runningState = runState === 'waiting' ? 'waiting' : 'assigned';
  return { ...rest, state: state === 'started' ? runningState : state };
}
