import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ROLES } from '../../model/enums.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { KEY_PARTS, KEY_TIMES, presentKeyTimes } from '../http/resources/resource-schemas.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import type { ApiKey, ApiKeys } from './api-keys.ts';

const TAGS = ['API keys'];
/** A caller who can create a key can do everything that the key can. */
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/api-keys';

const params = z.object({ id: uuidParam });
const fields = {
  name: z.string().min(1).max(255).describe('A name for people.'),
  role: z.enum(ROLES).describe('What it may do; each role includes those before it.'),
};
const response = z
  .strictObject({
    id: idOf('the key'),
    ...fields,
    ...KEY_PARTS,
    ...KEY_TIMES,
  })
  .meta({ title: 'ApiKey' });
const newKeyResponse = response
  .extend({
    key: z.string().describe('The whole key; it is shown only once.'),
  })
  .meta({ title: 'NewApiKey' });

/** The keys of the API itself: src/service/README.md, "The API". */
export function apiKeysRoutes({ apiKeys }: { readonly apiKeys: ApiKeys }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: { ...ADMIN, showsSecret: true },
        schema: {
          tags: TAGS,
          operationId: 'createApiKey',
          summary: 'Create an API key',
          body: z.strictObject(fields),
          response: { 201: newKeyResponse },
        },
      },
      async (request, reply) => {
        const { key, apiKey } = await apiKeys.create(callerOf(request).accountId, request.body);
        const shown = { ...presentApiKey(apiKey), key };
        return reply.code(201).header('location', `${PATH}/${apiKey.id}`).send(shown);
      },
    );

    app.get(
      PATH,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          operationId: 'listApiKeys',
          summary: 'List API keys, oldest first, including revoked keys',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const found = await apiKeys.list(callerOf(request).accountId, pageOf(request, reply));
        return found.map(presentApiKey);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          operationId: 'getApiKey',
          summary: 'Read an API key',
          params,
          response: { 200: response },
        },
      },
      async (request) => presentApiKey(await apiKeys.read(keyOf(request))),
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { ...ADMIN, audit: { action: 'revoke' } },
        schema: {
          tags: TAGS,
          operationId: 'deleteApiKey',
          summary: 'Revoke an API key permanently; the last admin key stays',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await apiKeys.revoke(keyOf(request));
        return reply.code(204).send(null);
      },
    );
  };
}

function presentApiKey(key: ApiKey): z.output<typeof response> {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    prefix: key.prefix,
    lastFour: key.lastFour,
    ...presentKeyTimes(key),
  };
}
