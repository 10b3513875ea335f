import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  isReservedCheckId,
  RESERVED_CHECK_IDS_PATTERN,
  RESERVED_CHECK_IDS_TEXT,
} from '../../model/ids.ts';
import { presentHeartbeat } from '../heartbeats/present-heartbeat.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { CONDITIONAL, CREATE, READ } from '../http/access/route-roles.ts';
import type { ServiceAddress } from '../http/access/service-address.ts';
import { viewerOf } from '../http/access/viewer.ts';
import { sendSlices } from '../http/json/list-in-slices.ts';
import {
  CHECK_TAGS,
  checkId,
  filterOf,
  listFields,
  putQuery,
  typeFilter,
} from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { NO_CONTENT } from '../http/resources/parameters.ts';
import { anyCheckBody, anyCheckResponse, NEEDS_LOCATION } from './check-schemas.ts';
import type { Checks, CheckWithChannels } from './checks.ts';
import { presentCheck } from './present-check.ts';

/** Refuses the name of a check type as id: the client has omitted the id from the path. */
const anyCheckId = checkId
  .refine((id) => !isReservedCheckId(id), {
    error: 'is the name of a check type; the id comes after it, for example /v1/checks/url/{id}',
  })
  .meta({ not: { pattern: RESERVED_CHECK_IDS_PATTERN } })
  .describe(
    `${checkId.description ?? ''} Not ${RESERVED_CHECK_IDS_TEXT}: these are other paths of the API.`,
  );
const anyChange = z
  .record(z.string(), z.unknown())
  .describe("The fields to change, as in the route of the check's type.");

/** The routes for checks of any type. */
export function anyCheckRoutes(checks: Checks, serviceAddress: ServiceAddress): FastifyPluginAsync {
  const presentAny = (
    stored: CheckWithChannels,
    request: FastifyRequest,
  ): Record<string, unknown> =>
    stored.check.checkType === 'HEARTBEAT'
      ? presentHeartbeat(stored, serviceAddress.baseUrl(request), viewerOf(request))
      : presentCheck(stored, viewerOf(request));
  const requiredBy = (request: FastifyRequest) =>
    preconditionOf<CheckWithChannels>(request, (stored) => presentAny(stored, request));
  const params = z.object({ id: anyCheckId });
  const response = anyCheckResponse;
  const listQuery = z.strictObject({
    type: typeFilter,
    ...listFields,
  });

  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/checks',
      {
        config: CREATE,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'createCheck',
          summary: 'Create a check of any type',
          description: NEEDS_LOCATION,
          querystring: putQuery,
          body: anyCheckBody,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const created = await checks.create(accountId, request.body, request.query);
        const shown = presentCheck(created, viewerOf(request));
        return reply.code(201).header('location', `/v1/checks/${shown.id}`).send(shown);
      },
    );

    app.get(
      '/v1/checks',
      {
        config: READ,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'listChecks',
          summary: 'List checks of all types, oldest first',
          querystring: listQuery,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { type, limit: _, page: __, cursor: ___, ...filters } = request.query;
        const found = checks.list(callerOf(request).accountId, {
          ...filterOf(filters, type),
          ...pageOf(request, reply),
        });
        return sendSlices(reply, found, (each) => presentAny(each, request));
      },
    );

    app.get(
      '/v1/checks/:id',
      {
        config: READ,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'getCheck',
          summary: 'Read a check',
          params,
          response: { 200: response },
        },
      },
      async (request) => presentAny(await checks.read(keyOf(request)), request),
    );

    app.put(
      '/v1/checks/:id',
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'putCheck',
          summary: 'Update a check, or create it under a given id',
          description:
            'To create a check, the body needs a `checkType`, a `request` and at least one location. Heartbeats have their own routes.',
          params,
          querystring: putQuery,
          body: anyChange,
          response: { 200: response },
        },
      },
      async (request) => {
        const { body, query } = request;
        const stored = await checks.put(keyOf(request), body, {
          ...query,
          precondition: requiredBy(request),
        });
        return presentCheck(stored, viewerOf(request));
      },
    );

    app.patch(
      '/v1/checks/:id',
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'updateCheck',
          summary: 'Update a check',
          params,
          body: anyChange,
          response: { 200: response },
        },
      },
      async (request) => {
        const updated = await checks.update(keyOf(request), request.body, {
          precondition: requiredBy(request),
        });
        return presentCheck(updated, viewerOf(request));
      },
    );

    app.delete(
      '/v1/checks/:id',
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'deleteCheck',
          summary: 'Delete a check',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await checks.remove(keyOf(request), { precondition: requiredBy(request) });
        return reply.code(204).send(null);
      },
    );
  };
}
