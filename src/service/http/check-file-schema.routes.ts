import type { FastifyPluginAsync } from 'fastify';
import { checkFileSchema } from '../../model/check-file/check-file-schema.ts';
import { type Encoded, encoded, sendEncoded } from './handbook/responses.ts';

/** The JSON Schema of the check file, for editors: they fetch it without a key. */
export const checkFileSchemaRoutes: FastifyPluginAsync = async (app) => {
  // Made for the first request: few services are asked.
  let schema: Encoded | null = null;
  app.get(
    '/schemas/check-file.json',
    { config: { public: true }, schema: { hide: true } },
    async (request, reply) => {
      schema ??= encoded(JSON.stringify(checkFileSchema()));
      return sendEncoded(request, reply.type('application/schema+json; charset=utf-8'), schema);
    },
  );
};
