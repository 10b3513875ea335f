import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { isSameOrigin, refuseForeignPage } from '../../http/access/same-origin.ts';
import {
  clientOf,
  giveSession,
  type SessionParts,
  userIfKnown,
} from '../../sessions/browser-session.ts';
import type { Invitations, ShownInvitation } from '../invitations.ts';
import { givenIn, noteOf, type OfToken, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, LINK_GONE, type Note, PASSWORD_HINT, sendPage } from './page.ts';

export interface InvitationPageParts extends SessionParts {
  readonly invitations: Invitations;
}

/** The page of the link of an invitation. */
export function addInvitation(app: FastifyInstance, parts: InvitationPageParts): void {
  const { serviceAddress, invitations, sessions } = parts;
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    shown: ShownInvitation,
    note: Note | null = null,
  ) => {
    const { email, role, isKnown } = shown;
    const user = await userIfKnown(request);
    const field = isKnown
      ? fieldHtml({
          name: 'password',
          label: 'Your password',
          type: 'password',
          autocomplete: 'current-password',
          hint: 'The one with which you sign in already.',
          hasFocus: true,
        })
      : fieldHtml({
          name: 'password',
          label: 'New password',
          type: 'password',
          autocomplete: 'new-password',
          hint: PASSWORD_HINT,
          hasFocus: true,
        });
    return sendPage(reply, {
      title: 'Join Vedette',
      note,
      main: `<p>You are invited as <strong>${htmlEscaped(email)}</strong>, with the role <strong>${htmlEscaped(role)}</strong>.</p>
<form method="post"><input type="hidden" autocomplete="username" value="${htmlEscaped(email)}">
${user?.email === email ? '' : field}
${buttonHtml('Join')}</form>`,
    });
  };
  const gone = (reply: FastifyReply) =>
    sendPage(reply.code(404), {
      title: 'Join Vedette',
      note: { kind: 'fail', text: LINK_GONE },
      main: `<p>Ask whoever invited you for another link.</p><a class="button" href="${serviceAddress.path('/sign-in')}">Sign in</a>`,
    });

  app.get<OfToken>('/invitations/:token', PAGE, async (request, reply) => {
    try {
      return await show(request, reply, await invitations.show(request.params.token));
    } catch (error) {
      const { status } = noteOf(error);
      if (status !== 404) throw error;
      return gone(reply);
    }
  });

  app.post<OfToken>('/invitations/:token', PAGE_WITH_FORM, async (request, reply) => {
    const { token } = request.params;
    try {
      refuseForeignPage(serviceAddress, request);
      const password = givenIn(request, 'password');
      const signedIn = isSameOrigin(serviceAddress, request) ? await userIfKnown(request) : null;
      const client = clientOf(serviceAddress, request);
      const joined = await invitations.accept({ token, password, signedIn }, client);
      const started = await sessions.start(joined.userId, client, joined.by);
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      if (status === 404) return gone(reply);
      return show(request, reply.code(status), await invitations.show(token), note);
    }
    return reply.redirect(serviceAddress.path('/'), 303);
  });
}
