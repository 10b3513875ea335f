import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../http/access/authentication.ts';
import { roleCovers } from '../../http/access/caller.ts';
import type { AuditedResource } from '../../http/plugins/audit.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../../http/resources/parameters.ts';
import { createdAt, idOf } from '../../http/resources/shown-fields.ts';
import { type ShownSubscriber, SUBSCRIBER_STATES, type Subscribers } from './subscribers.ts';

const TAGS = ['Status pages'];
const PATH = '/v1/status-pages/:statusPageId/subscribers';

const params = z.object({ statusPageId: uuidParam });
const response = z
  .strictObject({
    id: idOf('the subscriber'),
    kind: z.enum(['email', 'webhook']).describe('How messages are sent.'),
    address: z
      .string()
      .nullable()
      .describe(
        'The email address or the URL. Shortened for roles other than admin; null if no key decrypts it.',
      ),
    state: z
      .enum(SUBSCRIBER_STATES)
      .describe(
        '`unconfirmed`: nobody has confirmed the address yet; `active`; `suspended`: the address refused a message and gets none for a day.',
      ),
    services: z
      .array(z.string())
      .nullable()
      .describe('The ids of the services whose incidents are sent; null for all of the page.'),
    bounces: z.number().describe('Messages in a row that the address refused.'),
    confirmedAt: z.iso
      .datetime()
      .nullable()
      .describe('When the address was confirmed; null until then.'),
    suspendedUntil: z.iso
      .datetime()
      .nullable()
      .describe('Until when it gets no messages; null if it is not suspended.'),
    created_at: createdAt,
  })
  .meta({ title: 'StatusPageSubscriber' });

/** The subscribers of a status page: src/service/README.md, "Subscribers". */
export function subscribersRoutes({
  subscribers,
}: {
  readonly subscribers: Subscribers;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    const of: AuditedResource = {
      idName: 'subscriberId',
      show: async (accountId, { statusPageId, subscriberId }) => {
        const page = { accountId, pageId: String(statusPageId) };
        const found = await subscribers.find(page, String(subscriberId));
        return found === null ? null : presentSubscriber(found);
      },
    };

    app.get(
      PATH,
      {
        config: { role: 'read' },
        schema: {
          tags: TAGS,
          operationId: 'listStatusPageSubscribers',
          summary: 'List the subscribers of a status page, oldest first',
          params,
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId, role } = callerOf(request);
        const page = { accountId, pageId: request.params.statusPageId };
        const isMasked = !roleCovers(role, 'admin');
        const found = await subscribers.list(page, pageOf(request, reply), isMasked);
        return found.map(presentSubscriber);
      },
    );

    app.delete(
      `${PATH}/:subscriberId`,
      {
        config: { role: 'write', audit: { of } },
        schema: {
          tags: TAGS,
          operationId: 'deleteStatusPageSubscriber',
          summary: 'Delete a subscriber of a status page; messages to it are no longer sent',
          params: params.extend({ subscriberId: uuidParam }),
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { statusPageId, subscriberId } = request.params;
        await subscribers.remove({ accountId, pageId: statusPageId }, subscriberId);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentSubscriber(subscriber: ShownSubscriber): z.output<typeof response> {
  return {
    id: subscriber.id,
    kind: subscriber.kind,
    address: subscriber.address,
    state: subscriber.state,
    services: subscriber.serviceIds === null ? null : [...subscriber.serviceIds],
    bounces: subscriber.bounces,
    confirmedAt: subscriber.confirmedAt?.toISOString() ?? null,
    suspendedUntil: subscriber.restedUntil?.toISOString() ?? null,
    created_at: subscriber.createdAt.toISOString(),
  };
}
