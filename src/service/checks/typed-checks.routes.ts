import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RunnableCheckType } from '../../model/enums.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { CONDITIONAL, CREATE, READ } from '../http/access/route-roles.ts';
import { viewerOf } from '../http/access/viewer.ts';
import { sendSlices } from '../http/json/list-in-slices.ts';
import {
  CHECK_TAGS,
  checkId,
  filterOf,
  listFields,
  putCheckId,
  putQuery,
} from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { NO_CONTENT } from '../http/resources/parameters.ts';
import { NEEDS_LOCATION, TYPE_SCHEMAS } from './check-schemas.ts';
import type { Checks, CheckWithChannels } from './checks.ts';
import { presentCheck } from './present-check.ts';

/** The routes of one check type: src/service/README.md, "Every endpoint". */
export function typedCheckRoutes(checks: Checks, type: RunnableCheckType): FastifyPluginAsync {
  const path = `/v1/checks/${type.toLowerCase()}`;
  const schemas = TYPE_SCHEMAS[type];
  const { response } = schemas;
  const params = z.object({ id: checkId });
  const putParams = z.object({ id: putCheckId });
  /** The name of the resource in operation ids: `UrlCheck`. */
  const resource = `${type.charAt(0)}${type.slice(1).toLowerCase()}Check`;
  const noun = `${type} check`;
  const aNoun = `${/^[AI]/.test(type) ? 'an' : 'a'} ${noun}`;

  const requiredBy = (request: FastifyRequest) =>
    preconditionOf<CheckWithChannels>(request, (stored) => presentCheck(stored, viewerOf(request)));

  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      path,
      {
        config: CREATE,
        schema: {
          tags: CHECK_TAGS,
          operationId: `create${resource}`,
          summary: `Create ${aNoun}`,
          description: NEEDS_LOCATION,
          querystring: putQuery,
          body: schemas.create,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const input = { ...request.body, checkType: type };
        const created = await checks.create(accountId, input, request.query);
        const shown = presentCheck(created, viewerOf(request));
        return reply.code(201).header('location', `${path}/${shown.id}`).send(shown);
      },
    );

    app.get(
      path,
      {
        config: READ,
        schema: {
          tags: CHECK_TAGS,
          operationId: `list${resource}s`,
          summary: `List ${noun}s, oldest first`,
          querystring: z.strictObject(listFields),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { limit: _, page: __, cursor: ___, ...filters } = request.query;
        const viewer = viewerOf(request);
        const found = checks.list(callerOf(request).accountId, {
          ...filterOf(filters, [type]),
          ...pageOf(request, reply),
        });
        return sendSlices(reply, found, (each) => presentCheck(each, viewer));
      },
    );

    app.get(
      `${path}/:id`,
      {
        config: READ,
        schema: {
          tags: CHECK_TAGS,
          operationId: `get${resource}`,
          summary: `Read ${aNoun}`,
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        const found = await checks.read(keyOf(request), type);
        return presentCheck(found, viewerOf(request));
      },
    );

    app.put(
      `${path}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: `put${resource}`,
          summary: `Update ${aNoun}, or create it under a given id`,
          description:
            'Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request` and at least one location.',
          params: putParams,
          querystring: putQuery,
          body: schemas.update,
          response: { 200: response },
        },
      },
      async (request) => {
        const { autoAssignAlerts } = request.query;
        const options = { type, autoAssignAlerts, precondition: requiredBy(request) };
        const stored = await checks.put(keyOf(request), request.body, options);
        return presentCheck(stored, viewerOf(request));
      },
    );

    app.patch(
      `${path}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: `update${resource}`,
          summary: `Update ${aNoun}`,
          description:
            'Omitted fields do not change; each given field replaces the stored one as a whole.',
          params,
          body: schemas.update,
          response: { 200: response },
        },
      },
      async (request) => {
        const updated = await checks.update(keyOf(request), request.body, {
          type,
          precondition: requiredBy(request),
        });
        return presentCheck(updated, viewerOf(request));
      },
    );

    app.delete(
      `${path}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: CHECK_TAGS,
          operationId: `delete${resource}`,
          summary: `Delete ${aNoun}`,
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await checks.remove(keyOf(request), { type, precondition: requiredBy(request) });
        return reply.code(204).send(null);
      },
    );
  };
}
