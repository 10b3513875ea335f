import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ROLES } from '../../model/enums.ts';
import { notFound } from '../errors.ts';
import { userOf } from '../http/access/authentication.ts';
import { refuseForeignPage } from '../http/access/same-origin.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { NO_CONTENT, uuidParam } from '../http/resources/parameters.ts';
import { asShown, createdAt, idOf } from '../http/resources/shown-fields.ts';
import { emailSchema } from '../users/email.ts';
import { givenPassword } from '../users/password-hashing.ts';
import type { Users } from '../users/users.ts';
import { clearCookie, clientOf, giveSession, type SessionParts } from './browser-session.ts';
import type { SignIn } from './sign-in.ts';

export const SESSION_TAGS = ['Sessions'];
/** The access of routes about the user who is signed in. */
export const USER = { user: true, audit: 'by its feature' } as const;

const account = z.strictObject({
  id: idOf('the account'),
  name: z.string().describe('The name of the account.'),
  role: z.enum(ROLES).describe('What the user may do in it; each role includes those before it.'),
});
const session = z
  .strictObject({
    user: z
      .strictObject({ id: idOf('the user'), email: asShown(emailSchema) })
      .describe('Who is signed in.'),
    accounts: z
      .array(account)
      .describe('Those of the user. Requests without `x-service-account` are about the first.'),
  })
  .meta({ title: 'CurrentSession' });
const fields = {
  id: idOf('the session'),
  current: z.boolean().describe('Whether it is the session of this request.'),
  address: z.string().describe('The address from which the user signed in.'),
  userAgent: z.string().describe('The User-Agent with which the user signed in.'),
  created_at: createdAt,
  lastUsedAt: z.iso.datetime().describe('To the minute.'),
  endsAt: z.iso.datetime().describe('It ends earlier if it is not used.'),
};
const OLD_NAMES = ['user_agent', 'last_used_at', 'ends_at'] as const;
const listed = z.strictObject(alsoAs(fields, ...OLD_NAMES)).meta({ title: 'Session' });
export const SIGNED_IN = z.null().describe('Signed in; the cookie of the session is set.');

/** Signing in and out, and the own sessions: src/service/README.md, "Users and sessions". */
export function sessionsRoutes(
  parts: SessionParts & { readonly signIn: SignIn; readonly users: Pick<Users, 'accountsOf'> },
): FastifyPluginAsync {
  const { serviceAddress, sessions, signIn, users } = parts;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/session',
      {
        config: { public: true, audit: 'by its feature' },
        schema: {
          tags: SESSION_TAGS,
          operationId: 'signIn',
          summary: 'Sign in by email and password',
          body: z.strictObject({ email: emailSchema, password: givenPassword }),
          response: { 204: SIGNED_IN },
        },
      },
      async (request, reply) => {
        refuseForeignPage(serviceAddress, request);
        const started = await signIn.byPassword(request.body, clientOf(serviceAddress, request));
        await giveSession(parts, request, reply, started);
        return reply.code(204).send(null);
      },
    );

    app.get(
      '/v1/session',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'getSession',
          summary: 'Read who is signed in, and the accounts of the user',
          response: { 200: session },
        },
      },
      async (request) => {
        const { userId: id, email } = userOf(request);
        return { user: { id, email }, accounts: [...(await users.accountsOf(id))] };
      },
    );

    app.delete(
      '/v1/session',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'signOut',
          summary: 'Sign out',
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { userId, sessionId } = userOf(request);
        await sessions.end(userId, sessionId, request.ip);
        clearCookie(serviceAddress, request, reply);
        return reply.code(204).send(null);
      },
    );

    app.get(
      '/v1/sessions',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'listSessions',
          summary: 'List your sessions, the most recent sign-in first',
          response: { 200: z.array(listed) },
        },
      },
      async (request) => {
        const { userId, sessionId } = userOf(request);
        return (await sessions.list(userId)).map((each) => {
          const shown = {
            id: each.id,
            current: each.id === sessionId,
            address: each.address,
            userAgent: each.userAgent,
            created_at: each.createdAt.toISOString(),
            lastUsedAt: each.lastUsedAt.toISOString(),
            endsAt: each.endsAt.toISOString(),
          };
          return withOldNames(shown, ...OLD_NAMES);
        });
      },
    );

    app.delete(
      '/v1/sessions',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'signOutEverywhere',
          summary: 'Sign out everywhere',
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await sessions.endAll(userOf(request).userId, request.ip);
        clearCookie(serviceAddress, request, reply);
        return reply.code(204).send(null);
      },
    );

    app.delete(
      '/v1/sessions/:id',
      {
        config: USER,
        schema: {
          tags: SESSION_TAGS,
          operationId: 'deleteSession',
          summary: 'End one of your sessions',
          params: z.object({ id: uuidParam }),
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const { ip, params } = request;
        const isEnded = await sessions.end(userOf(request).userId, params.id, ip);
        if (!isEnded) throw notFound('session');
        return reply.code(204).send(null);
      },
    );
  };
}
