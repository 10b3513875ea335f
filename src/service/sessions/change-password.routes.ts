import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { newPassword } from '../../model/account/password.ts';
import { userOf } from '../http/access/authentication.ts';
import { givenPassword } from '../users/password-hashing.ts';
import { clientOf, giveSession, type SessionParts } from './browser-session.ts';
import type { ChangePassword } from './change-password.ts';
import { SESSION_TAGS, SIGNED_IN, USER } from './routes.ts';

/** Changing the own password. */
export function changePasswordRoutes(
  parts: SessionParts & { readonly changePassword: ChangePassword },
): FastifyPluginAsync {
  const { serviceAddress, changePassword } = parts;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    app.put(
      '/v1/password',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'changePassword',
          summary: 'Change your password, and sign out everywhere else',
          body: z.strictObject({ currentPassword: givenPassword, newPassword }),
          response: { 204: SIGNED_IN },
        },
      },
      async (request, reply) => {
        const { userId } = userOf(request);
        const client = clientOf(serviceAddress, request);
        const started = await changePassword(userId, request.body, client);
        await giveSession(parts, request, reply, started);
        return reply.code(204).send(null);
      },
    );
  };
}
