import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ROLES } from '../../model/enums.ts';
import { callerOf } from '../http/access/authentication.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { preconditionOf } from '../http/resources/etag.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { asShown, idOf } from '../http/resources/shown-fields.ts';
import { emailSchema } from './email.ts';
import type { Member, Users } from './users.ts';

const TAGS = ['Users'];
/** A user who can change roles can do everything that any role can. */
const ADMIN = { role: 'admin' } as const;
const CONDITIONAL = { ...ADMIN, conditional: true } as const;
const PATH = '/v1/users';

const params = z.object({ id: uuidParam });
const role = z.enum(ROLES).describe('What the user may do; each role includes those before it.');
const fields = {
  id: idOf('the user'),
  email: asShown(emailSchema),
  role,
  created_at: z.iso.datetime().describe('When the user joined the account.'),
  lastSignInAt: z.iso
    .datetime()
    .nullable()
    .describe('When the user last signed in; null for never.'),
};
const response = z.strictObject(alsoAs(fields, 'last_sign_in_at'));

/** The users of an account: src/service/README.md, "Users and sessions". */
export function usersRoutes({ users }: { readonly users: Users }): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      PATH,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          operationId: 'listUsers',
          summary: 'List the users of the account, in the order in which they joined',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const found = await users.list(callerOf(request).accountId, pageOf(request, reply));
        return found.map(presentMember);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          operationId: 'getUser',
          summary: 'Read a user of the account',
          params,
          response: { 200: response },
        },
      },
      async (request) =>
        presentMember(await users.read(callerOf(request).accountId, request.params.id)),
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:id`,
      config: CONDITIONAL,
      schema: {
        tags: TAGS,
        operationId: 'updateUser',
        summary: 'Change the role of a user; the last admin stays one',
        params,
        body: z.strictObject({ role }),
        response: { 200: response.describe('The user with the new role.') },
      },
      handler: async (request) => {
        const changed = await users.changeRole(
          { accountId: callerOf(request).accountId, id: request.params.id },
          request.body.role,
          preconditionOf(request, presentMember),
        );
        return presentMember(changed);
      },
    });

    app.delete(
      `${PATH}/:id`,
      {
        config: CONDITIONAL,
        schema: {
          tags: TAGS,
          operationId: 'deleteUser',
          summary: 'Remove a user from the account; the last admin stays',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        const key = { accountId: callerOf(request).accountId, id: request.params.id };
        await users.remove(key, preconditionOf(request, presentMember));
        return reply.code(204).send(null);
      },
    );
  };
}

function presentMember(member: Member): z.output<typeof response> {
  const shown = {
    id: member.id,
    email: member.email,
    role: member.role,
    created_at: member.createdAt.toISOString(),
    lastSignInAt: member.lastSignInAt?.toISOString() ?? null,
  };
  return withOldNames(shown, 'last_sign_in_at');
}
