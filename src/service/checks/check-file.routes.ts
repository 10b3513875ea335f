import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { notFound } from '../errors.ts';
import { keyOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { viewerOf } from '../http/access/viewer.ts';
import { CHECK_TAGS, checkId } from '../http/resources/check-parameters.ts';
import { checkFileOf } from './check-file.ts';
import type { Checks } from './checks.ts';
import { presentCheck } from './present-check.ts';

const TEXT = 'text/yaml; charset=utf-8';

/** Returns a check as a check file. */
export function checkFileRoutes(checks: Pick<Checks, 'read'>): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/checks/:id/check-file',
      {
        config: READ,
        schema: {
          tags: CHECK_TAGS,
          operationId: 'getCheckFile',
          summary: 'Read a check as a check file',
          description: `For checks of type ${RUNNABLE_CHECK_TYPES.join(', ')}. Fields with their default value are omitted, and comments mark hidden values.`,
          params: z.object({ id: checkId }),
          response: {
            200: {
              description: 'A check file with this check.',
              content: { 'text/yaml': { schema: z.string() } },
            },
          },
        },
      },
      async (request, reply) => {
        const stored = await checks.read(keyOf(request));
        if (stored.check.checkType === 'HEARTBEAT') throw notFound('check that runs');
        const body = checkFileOf(presentCheck(stored, viewerOf(request)));
        return reply.type(TEXT).serializer(String).send(body);
      },
    );
  };
}
