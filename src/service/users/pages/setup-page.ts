import type { FastifyInstance, FastifyReply } from 'fastify';
import { newPassword } from '../../../model/account/password.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import { clientOf, giveSession, type SessionParts } from '../../sessions/browser-session.ts';
import { emailSchema } from '../email.ts';
import type { Setup } from '../setup.ts';
import { fieldsOf, givenIn, noteOf, type OfToken, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, LINK_GONE, type Note, PASSWORD_HINT, sendPage } from './page.ts';

export interface SetupPageParts extends SessionParts {
  readonly setup: Setup;
}

/** The page of the setup link of a service without users. */
export function addSetup(app: FastifyInstance, parts: SetupPageParts): void {
  const { serviceAddress, setup, sessions } = parts;
  const show = (reply: FastifyReply, email = '', note: Note | null = null) =>
    sendPage(reply, {
      title: 'Set up Vedette',
      note,
      main: `<p>You become the first user of this service, an admin.</p>
<form method="post">
${fieldHtml({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', value: email, hasFocus: true })}
${fieldHtml({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: PASSWORD_HINT })}
${buttonHtml('Create the first user')}</form>`,
    });
  const gone = (reply: FastifyReply) =>
    sendPage(reply.code(404), {
      title: 'Set up Vedette',
      note: { kind: 'fail', text: LINK_GONE },
      main: `<p>While the service has no user, each start in the first day of the account writes a new link to its log. Later, whoever has an admin key invites users.</p><a class="button" href="${serviceAddress.path('/sign-in')}">Sign in</a>`,
    });

  app.get<OfToken>('/setup/:token', PAGE, async (request, reply) =>
    (await setup.isOpen(request.params.token)) ? show(reply) : gone(reply),
  );

  app.post<OfToken>('/setup/:token', PAGE_WITH_FORM, async (request, reply) => {
    try {
      refuseForeignPage(serviceAddress, request);
      const given = fieldsOf(request, { email: emailSchema, password: newPassword });
      const client = clientOf(serviceAddress, request);
      const { token } = request.params;
      const userId = await setup.accept({ ...given, token }, client);
      const started = await sessions.start(userId, client, { kind: 'setup' });
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      return status === 404
        ? gone(reply)
        : show(reply.code(status), givenIn(request, 'email'), note);
    }
    return reply.redirect(serviceAddress.path('/'), 303);
  });
}
