import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  heartbeatCheckSchema,
  heartbeatFields,
  rhythmFields,
} from '../../model/check/heartbeat.ts';
import type { Checks, CheckWithChannels } from '../checks/checks.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { CONDITIONAL, CREATE, READ, WRITE } from '../http/access/route-roles.ts';
import type { ServiceAddress } from '../http/access/service-address.ts';
import { viewerOf } from '../http/access/viewer.ts';
import { sendSlices } from '../http/json/list-in-slices.ts';
import {
  checkId,
  filterOf,
  listFields,
  putCheckId,
  putQuery,
} from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { NO_CONTENT } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { heartbeatResponse, RESPONSE_ONLY } from './heartbeat-response.ts';
import type { Heartbeats } from './heartbeats.ts';
import { presentHeartbeat } from './present-heartbeat.ts';

const TAGS = ['Heartbeats'];
const PATH = '/v1/checks/heartbeats';
const TYPE = 'HEARTBEAT';

const params = z.object({ id: checkId });
const putParams = z.object({ id: putCheckId });
const type = heartbeatCheckSchema.shape.checkType.optional();
const response: z.ZodType<Record<string, unknown>> = heartbeatResponse;
const created = z.strictObject({ ...heartbeatFields, ...ignored(['warnings']), checkType: type });
const changes = z.strictObject({
  ...optionalFieldsOf(heartbeatFields),
  ...ignored(RESPONSE_ONLY),
  heartbeat: z
    .strictObject({ ...rhythmFields, ...ignored(['pingToken', 'pingUrl']) })
    .optional()
    .describe('How often the job pings, and how late it may be.'),
  checkType: type,
  id: z.string().optional().describe('The same as in the path.'),
});

/** Heartbeat checks: src/service/README.md, "Heartbeats". */
export function heartbeatsRoutes({
  heartbeats,
  checks,
  serviceAddress,
}: {
  readonly heartbeats: Heartbeats;
  readonly checks: Checks;
  readonly serviceAddress: ServiceAddress;
}): FastifyPluginAsync {
  const present = (stored: CheckWithChannels, request: FastifyRequest): Record<string, unknown> =>
    presentHeartbeat(stored, serviceAddress.baseUrl(request), viewerOf(request));

  const requiredBy = (request: FastifyRequest) =>
    preconditionOf<CheckWithChannels>(request, (stored) => present(stored, request));

  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: CREATE,
        schema: {
          tags: TAGS,
          operationId: 'createHeartbeatCheck',
          summary: 'Create a heartbeat check',
          description: 'Monitoring starts with the first ping to the `pingUrl` in the response.',
          querystring: putQuery,
          body: created,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const made = await heartbeats.create(accountId, request.body, request.query);
        const shown = present(made, request);
        return reply.code(201).header('location', `${PATH}/${shown.id}`).send(shown);
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listHeartbeatChecks',
          summary: 'List heartbeat checks, oldest first',
          querystring: z.strictObject(listFields),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { limit: _, page: __, cursor: ___, ...filters } = request.query;
        const found = checks.list(callerOf(request).accountId, {
          ...filterOf(filters, [TYPE]),
          ...pageOf(request, reply),
        });
        return sendSlices(reply, found, (each) => present(each, request));
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getHeartbeatCheck',
          summary: 'Read a heartbeat check',
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        return present(await checks.read(keyOf(request), TYPE), request);
      },
    );

    app.put(
      `${PATH}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: TAGS,
          operationId: 'putHeartbeatCheck',
          summary: 'Update a heartbeat check, or create it under a given id',
          description:
            'Omitted fields do not change; each given field replaces the stored one as a whole. If no check has the id and the body has a `heartbeat`, creates a heartbeat check.',
          params: putParams,
          querystring: putQuery,
          body: changes,
          response: { 200: response },
        },
      },
      async (request) => {
        const { body, query } = request;
        return present(
          await heartbeats.put(keyOf(request), body, {
            ...query,
            precondition: requiredBy(request),
          }),
          request,
        );
      },
    );

    app.patch(
      `${PATH}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: TAGS,
          operationId: 'updateHeartbeatCheck',
          summary: 'Update a heartbeat check',
          description:
            'Omitted fields do not change; each given field replaces the stored one as a whole.',
          params,
          body: changes,
          response: { 200: response },
        },
      },
      async (request) => {
        const updated = await heartbeats.update(keyOf(request), request.body, {
          precondition: requiredBy(request),
        });
        return present(updated, request);
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: TAGS,
          operationId: 'deleteHeartbeatCheck',
          summary: 'Delete a heartbeat check',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await checks.remove(keyOf(request), { type: TYPE, precondition: requiredBy(request) });
        return reply.code(204).send(null);
      },
    );

    app.post(
      `${PATH}/:id/ping-token`,
      {
        config: { ...WRITE, audit: { action: 'rotate' } },
        schema: {
          tags: TAGS,
          operationId: 'replacePingToken',
          summary: 'Replace the ping token of a heartbeat check',
          description: 'The ping URL changes; the old one stops working.',
          params,
          response: { 200: response.describe('The heartbeat check with its new ping URL.') },
        },
      },
      async (request) => {
        return present(await heartbeats.renewToken(keyOf(request)), request);
      },
    );
  };
}
