import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { privateLocationSchema } from '../../model/account/private-location.ts';
import { maskProxyUrl } from '../../model/credentials/proxy-secret.ts';
import { callerOf } from '../http/access/authentication.ts';
import type { AuditedResource } from '../http/plugins/audit.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { WHOLE_LIST } from '../http/resources/paging.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import {
  ignored,
  KEY_PARTS,
  KEY_TIMES,
  optionalFieldsOf,
  presentKeyTimes,
  TIMES,
} from '../http/resources/resource-schemas.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import type { LocationKey, LocationKeys } from './location-keys.ts';
import type { PrivateLocation, PrivateLocations } from './private-locations.ts';

const TAG = 'Private locations';
const READ = { role: 'read' } as const;
/** A location's key gives access to all its checks, including their secrets. */
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/private-locations';

const params = z.object({ id: uuidParam });
const changes = z.strictObject({
  ...optionalFieldsOf(privateLocationSchema.shape),
  ...ignored(['silentSince', 'created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});
const response = privateLocationSchema.extend({
  id: idOf('the location'),
  silentSince: z.iso
    .datetime()
    .nullable()
    .describe(
      'When an agent last polled, if checks are assigned to the location and none of them runs because no agent polls. null while agents poll, and for a location that never had an agent.',
    ),
  ...TIMES,
});
const keyResponse = z
  .strictObject({
    id: idOf('the key'),
    ...KEY_PARTS,
    ...KEY_TIMES,
  })
  .meta({ title: 'LocationKey' });
const newKeyResponse = keyResponse
  .extend({
    key: z.string().describe('The whole key; it is shown only once.'),
  })
  .meta({ title: 'NewLocationKey' });

/** Private locations, and the keys that authenticate their agents. */
export function privateLocationsRoutes(features: {
  readonly privateLocations: PrivateLocations;
  readonly locationKeys: LocationKeys;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(locationRoutes(features.privateLocations));
    await app.register(keyRoutes(features.locationKeys));
  };
}

function locationRoutes(privateLocations: PrivateLocations): FastifyPluginAsync {
  return crudRoutes({
    path: PATH,
    resource: 'PrivateLocation',
    tag: TAG,
    changing: { role: 'write' },
    id: { name: 'id', schema: uuidParam },
    query: z.strictObject(pageQuery),
    body: privateLocationSchema,
    changes,
    response,
    texts: {
      create: { summary: 'Create a private location' },
      list: { summary: 'List private locations, oldest first' },
      read: { summary: 'Read a private location' },
      update: {
        summary: 'Update a private location',
        description:
          'Omitted fields do not change; each given field replaces the stored one as a whole. ******** in proxyUrl keeps the stored password, if scheme, host and port stay the same. The slug never changes.',
      },
      remove: {
        summary: 'Delete a private location and its keys; no check or group may use it',
      },
    },
    feature: privateLocations,
    present: presentLocation,
  });
}

function keyRoutes(keys: LocationKeys): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    const of: AuditedResource = {
      idName: 'keyId',
      show: async (accountId, { id, keyId }) => {
        const found = await keys.list(accountId, String(id), WHOLE_LIST);
        const key = found.find((each) => each.id === keyId);
        return key === undefined ? null : presentKey(key);
      },
    };

    app.post(
      `${PATH}/:id/keys`,
      {
        config: { ...ADMIN, showsSecret: true, audit: { of } },
        schema: {
          tags: [TAG],
          operationId: 'createLocationKey',
          summary: 'Create a key for the agents of a location; at most two are active',
          params,
          response: { 201: newKeyResponse },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { id } = request.params;
        const { key, locationKey } = await keys.create(accountId, id);
        return reply
          .code(201)
          .header('location', `${PATH}/${id}/keys/${locationKey.id}`)
          .send({ ...presentKey(locationKey), key });
      },
    );

    app.get(
      `${PATH}/:id/keys`,
      {
        config: READ,
        schema: {
          tags: [TAG],
          operationId: 'listLocationKeys',
          summary: 'List the keys of a location, oldest first, including revoked keys',
          params,
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(keyResponse) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await keys.list(accountId, request.params.id, pageOf(request, reply));
        return found.map(presentKey);
      },
    );

    app.delete(
      `${PATH}/:id/keys/:keyId`,
      {
        config: { ...ADMIN, audit: { of, action: 'revoke' } },
        schema: {
          tags: [TAG],
          operationId: 'deleteLocationKey',
          summary: 'Revoke a key of a location permanently',
          params: params.extend({ keyId: uuidParam }),
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { id, keyId } = request.params;
        await keys.revoke(callerOf(request).accountId, id, keyId);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentLocation(location: PrivateLocation): z.output<typeof response> {
  const { id, slug, name, icon, proxyUrl, silentSince, createdAt, updatedAt } = location;
  return {
    id,
    slug,
    name,
    icon,
    proxyUrl: proxyUrl === null ? null : maskProxyUrl(proxyUrl),
    silentSince: silentSince?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}

function presentKey(key: LocationKey): z.output<typeof keyResponse> {
  return {
    id: key.id,
    prefix: key.prefix,
    lastFour: key.lastFour,
    ...presentKeyTimes(key),
  };
}
