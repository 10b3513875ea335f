import type { FastifyInstance, FastifyReply } from 'fastify';
import { newPassword } from '../../../model/account/password.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import { clientOf, giveSession, type SessionParts } from '../../sessions/browser-session.ts';
import type { PasswordLinks } from '../password-links.ts';
import { fieldsOf, noteOf, type OfToken, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, LINK_GONE, type Note, PASSWORD_HINT, sendPage } from './page.ts';

export interface PasswordPageParts extends SessionParts {
  readonly passwordLinks: PasswordLinks;
}

/** The page of the link for a new password. */
export function addPasswordLink(app: FastifyInstance, parts: PasswordPageParts): void {
  const { serviceAddress, passwordLinks, sessions } = parts;
  const show = (reply: FastifyReply, email: string, note: Note | null = null) =>
    sendPage(reply, {
      title: 'Choose a new password',
      note,
      main: `<p>For <strong>${htmlEscaped(email)}</strong>. You will be signed out everywhere else.</p>
<form method="post"><input type="hidden" autocomplete="username" value="${htmlEscaped(email)}">
${fieldHtml({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: PASSWORD_HINT, hasFocus: true })}
${buttonHtml('Save the password')}</form>`,
    });
  const gone = (reply: FastifyReply) =>
    sendPage(reply.code(404), {
      title: 'Choose a new password',
      note: { kind: 'fail', text: LINK_GONE },
      main: `<p>Ask whoever runs this service for another link.</p><a class="button" href="${serviceAddress.path('/sign-in')}">Sign in</a>`,
    });

  app.get<OfToken>('/password/:token', PAGE, async (request, reply) => {
    try {
      return await show(reply, await passwordLinks.show(request.params.token));
    } catch (error) {
      if (noteOf(error).status !== 404) throw error;
      return gone(reply);
    }
  });

  app.post<OfToken>('/password/:token', PAGE_WITH_FORM, async (request, reply) => {
    const { token } = request.params;
    try {
      refuseForeignPage(serviceAddress, request);
      const given = fieldsOf(request, { password: newPassword });
      const client = clientOf(serviceAddress, request);
      const { userId, passwordHash } = await passwordLinks.accept({ ...given, token }, client);
      const started = await sessions.start(userId, client, {
        kind: 'password',
        checkedHash: passwordHash,
      });
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      if (status === 404) return gone(reply);
      return show(reply.code(status), await passwordLinks.show(token), note);
    }
    return reply.redirect(serviceAddress.path('/account'), 303);
  });
}
