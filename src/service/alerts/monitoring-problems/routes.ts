import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ALERT_CHANNEL_TYPES } from '../../../model/alerting/alert-channel.ts';
import { MONITORING_PROBLEMS, PROBLEM_RULES } from '../../../model/alerting/monitoring-problems.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { numberParam, pageQuery, repeatable } from '../../http/resources/parameters.ts';
import type { MonitoringProblems, OpenProblem } from './monitoring-problems.ts';
import { subjectName } from './subject.ts';

const response = z
  .strictObject({
    id: z.string().describe('The same each time this problem occurs.'),
    kind: z.enum(MONITORING_PROBLEMS).describe('The kind of the problem.'),
    severity: z
      .enum(['critical', 'warning'])
      .describe('critical: runs or notifications are missing, or soon will be.'),
    headline: z.string().describe('The problem in one line.'),
    message: z.string().describe('What the last check found, and what to try.'),
    location: z
      .strictObject({
        id: z.string().describe('The id of the location.'),
        slug: z.string().describe('Its slug.'),
        name: z.string().describe('Its name.'),
      })
      .nullable()
      .describe('The private location that it is about; else null.'),
    channel: z
      .strictObject({
        id: z.number().describe('The id of the channel.'),
        type: z.enum(ALERT_CHANNEL_TYPES).describe('Its type.'),
        name: z.string().describe('Its name.'),
      })
      .nullable()
      .describe('The alert channel that it is about; else null.'),
    since: z.iso.datetime().describe('When it was first found.'),
    notifiedAt: z.iso.datetime().describe('When it was certain, and channels were notified.'),
  })
  .meta({ title: 'MonitoringProblem' });

const listQuery = z.strictObject({
  kind: repeatable(z.enum(MONITORING_PROBLEMS), MONITORING_PROBLEMS.length).describe(
    'Only this problem; repeated, any of these.',
  ),
  locationId: z.guid().optional().describe('Only problems of the location with this id.'),
  channelId: numberParam.optional().describe('Only problems of the channel with this id.'),
  ...pageQuery,
});

/** Lists problems of monitoring itself: src/service/README.md, "Problems of monitoring itself". */
export function monitoringProblemsRoutes({
  monitoringProblems,
}: {
  readonly monitoringProblems: Pick<MonitoringProblems, 'list'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/monitoring-problems',
      {
        config: READ,
        schema: {
          tags: ['Monitoring problems'],
          operationId: 'listMonitoringProblems',
          summary: 'List the problems of monitoring itself that have not ended, the worst first',
          description:
            'Critical problems come first, then the newest. Silent locations are not listed here: see `silentSince` of locations. The disk of the database is listed in the first account.',
          querystring: listQuery,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { kind: kinds, locationId = null, channelId = null } = request.query;
        const filter = { kinds, locationId, channelId };
        const found = await monitoringProblems.list(accountId, filter, pageOf(request, reply));
        return found.map(present);
      },
    );
  };
}

function present({
  id,
  kind,
  subject,
  message,
  since,
  begunAt,
}: OpenProblem): z.output<typeof response> {
  const { severity, headline } = PROBLEM_RULES[kind];
  return {
    id,
    kind,
    severity,
    headline: headline(subjectName(subject)),
    message,
    location:
      subject.kind === 'location'
        ? { id: subject.id, slug: subject.slug, name: subject.name }
        : null,
    channel:
      subject.kind === 'channel'
        ? { id: subject.id, type: subject.type, name: subject.name }
        : null,
    since: since.toISOString(),
    notifiedAt: begunAt.toISOString(),
  };
}
