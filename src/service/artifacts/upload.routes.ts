import { Readable } from 'node:stream';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  artifactBeginSchema,
  artifactCompletedSchema,
  artifactUploadSchema,
} from '../../wire/v1/artifacts.ts';
import { id } from '../../wire/v1/fields.ts';
import { MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import { agentOf } from '../http/access/agent-access.ts';
import { clientGoneSignal } from '../http/request-signal.ts';
import { NO_CONTENT, numberParam } from '../http/resources/parameters.ts';
import type { Artifacts } from './artifacts.ts';

const PART_TYPE = 'application/octet-stream';
const params = z.object({ uploadId: id });

/** How agents upload artifacts: begin, the parts that are missing, complete. */
export function agentArtifactsRoutes(features: {
  readonly artifacts: Pick<Artifacts, 'begin' | 'putPart' | 'complete'>;
}): FastifyPluginAsync {
  const { artifacts } = features;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATHS.artifacts,
      {
        config: { agent: true, gzip: true },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { body: artifactBeginSchema, response: { 200: artifactUploadSchema } },
      },
      (request, reply) => artifacts.begin(agentOf(request), request.body, clientGoneSignal(reply)),
    );

    app.post(
      `${PATHS.artifacts}/:uploadId/complete`,
      {
        config: { agent: true, gzip: true },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { params, response: { 200: artifactCompletedSchema } },
      },
      (request, reply) =>
        artifacts.complete(agentOf(request), request.params.uploadId, clientGoneSignal(reply)),
    );

    await app.register(partRoute(artifacts));
  };
}

/** A plugin of its own: only here a body is a stream instead of JSON. */
function partRoute(artifacts: Pick<Artifacts, 'putPart'>): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(PART_TYPE, async (_request: unknown, payload: Readable) => payload);
    app.put(
      `${PATHS.artifacts}/:uploadId/parts/:n`,
      {
        config: { agent: true, bodyType: PART_TYPE },
        schema: { params: params.extend({ n: numberParam }), response: { 204: NO_CONTENT } },
      },
      async (request, reply) => {
        const { uploadId, n } = request.params;
        const source = request.body instanceof Readable ? request.body : Readable.from([]);
        await artifacts.putPart(agentOf(request), uploadId, n, source, clientGoneSignal(reply));
        return reply.code(204).send(null);
      },
    );
  };
}
