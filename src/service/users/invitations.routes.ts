import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ROLES } from '../../model/enums.ts';
import { callerOf } from '../http/access/authentication.ts';
import { isSameOrigin, refuseForeignPage } from '../http/access/same-origin.ts';
import type { AuditedResource } from '../http/plugins/audit.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { alsoAs, withOldNames } from '../http/resources/deprecated-names.ts';
import { WHOLE_LIST } from '../http/resources/paging.ts';
import { NO_CONTENT, pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { createdAt, idOf } from '../http/resources/shown-fields.ts';
import {
  clientOf,
  giveSession,
  type SessionParts,
  userIfKnown,
} from '../sessions/browser-session.ts';
import { emailSchema } from './email.ts';
import type { Invitation, Invitations } from './invitations.ts';
import { givenPassword } from './password-hashing.ts';

const TAGS = ['Users'];
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/invitations';

const fields = {
  email: emailSchema,
  role: z.enum(ROLES).describe('The role of the user in the account.'),
};
const times = alsoAs(
  { created_at: createdAt, expiresAt: z.iso.datetime().describe('Until when the link works.') },
  'expires_at',
);
const response = z
  .strictObject({ id: idOf('the invitation'), ...fields, ...times })
  .meta({ title: 'Invitation' });
const newResponse = response
  .extend({
    url: z
      .string()
      .describe('The link to send to the user. It works once, and is shown only once.'),
  })
  .meta({ title: 'NewInvitation' });

export interface InvitationsRoutesParts extends SessionParts {
  readonly invitations: Invitations;
}

/** Invitations to an account: src/service/README.md, "Users and sessions". */
export function invitationsRoutes(parts: InvitationsRoutesParts): FastifyPluginAsync {
  const { invitations, serviceAddress, sessions } = parts;
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();
    const of: AuditedResource = {
      idName: 'id',
      show: async (accountId, { id }) => {
        const found = await invitations.list(accountId, WHOLE_LIST);
        const invitation = found.find((each) => each.id === id);
        return invitation === undefined ? null : presentInvitation(invitation);
      },
    };

    app.post(
      PATH,
      {
        config: { ...ADMIN, showsSecret: true, audit: { of } },
        schema: {
          tags: TAGS,
          operationId: 'createInvitation',
          summary: 'Invite a user to the account by a link',
          description: 'Replaces an earlier invitation of the same email.',
          body: z.strictObject(fields),
          response: { 201: newResponse.describe('The invitation, with its link.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const { invitation, token } = await invitations.create(accountId, request.body);
        const url = `${serviceAddress.baseUrl(request)}/invitations/${token}`;
        return reply
          .code(201)
          .header('location', `${PATH}/${invitation.id}`)
          .send({ ...presentInvitation(invitation), url });
      },
    );

    app.get(
      PATH,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          operationId: 'listInvitations',
          summary: 'List open invitations, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await invitations.list(accountId, pageOf(request, reply));
        return found.map(presentInvitation);
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { ...ADMIN, audit: { of } },
        schema: {
          tags: TAGS,
          operationId: 'deleteInvitation',
          summary: 'Withdraw an invitation',
          params: z.object({ id: uuidParam }),
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await invitations.remove(callerOf(request).accountId, request.params.id);
        return reply.code(204).send(null);
      },
    );

    app.post(
      `${PATH}/accept`,
      {
        config: { public: true, audit: 'by its feature' },
        schema: {
          tags: TAGS,
          operationId: 'acceptInvitation',
          summary: 'Accept an invitation, and sign in',
          description:
            'A new user chooses a password. A user who has a password sends that one, or is signed in and sends none.',
          body: z.strictObject({
            token: z.string().max(100).describe('The end of the link.'),
            password: givenPassword
              .optional()
              .describe('A new password, or the existing password of a user who has one.'),
          }),
          response: { 204: z.null().describe('Signed in; the cookie of the session is set.') },
        },
      },
      async (request, reply) => {
        refuseForeignPage(serviceAddress, request);
        const { token, password = null } = request.body;
        const signedIn = isSameOrigin(serviceAddress, request) ? await userIfKnown(request) : null;
        const client = clientOf(serviceAddress, request);
        const joined = await invitations.accept({ token, password, signedIn }, client);
        const started = await sessions.start(joined.userId, client, joined.by);
        await giveSession(parts, request, reply, started);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentInvitation(invitation: Invitation): z.output<typeof response> {
  const shown = {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    created_at: invitation.createdAt.toISOString(),
    expiresAt: invitation.expiresAt.toISOString(),
  };
  return withOldNames(shown, 'expires_at');
}
