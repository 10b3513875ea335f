import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newPassword } from '../../../model/account/password.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { requireOwnPage } from '../../http/access/same-origin.ts';
import { clientOf, giveSession, type SessionParts } from '../../sessions/browser-session.ts';
import type { ChangePassword } from '../../sessions/change-password.ts';
import { givenPassword } from '../password-hashing.ts';
import type { Users } from '../users.ts';
import { fieldsOf, noteOf, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, hiddenHtml, type Note, PASSWORD_HINT, sendPage } from './page.ts';

export interface AccountPageParts extends SessionParts {
  readonly users: Pick<Users, 'accountsOf'>;
  readonly changePassword: ChangePassword;
}

/** The accounts of the user, and the form for a new password. */
export function addAccount(app: FastifyInstance, parts: AccountPageParts): void {
  const { serviceAddress, changePassword, users, sessions } = parts;
  const show = async (request: FastifyRequest, reply: FastifyReply, note: Note | null) => {
    const user = await app.identifyUser(request);
    if (user === null) return reply.redirect(serviceAddress.path('/sign-in?next=/account'), 303);
    const accounts = await users.accountsOf(user.userId);
    const { length: signedIn } = await sessions.list(user.userId);
    const rows = accounts.map(
      ({ name, role }) =>
        `<dt>${htmlEscaped(name)}</dt><dd>role <strong>${htmlEscaped(role)}</strong></dd>`,
    );
    return sendPage(reply, {
      title: 'Your account',
      note,
      isWide: true,
      main: `<p>Signed in as <strong>${htmlEscaped(user.email)}</strong>, in ${signedIn === 1 ? 'one browser' : `${signedIn} browsers`}.</p>
<div class="buttons"><form method="post" action="${serviceAddress.path('/sign-out')}">${buttonHtml('Sign out', false)}</form>
<form method="post" action="${serviceAddress.path('/sign-out')}">${hiddenHtml('everywhere', 'yes')}${buttonHtml('Sign out everywhere', false)}</form></div>
<h2>Accounts</h2>
${rows.length === 0 ? '<p>You belong to no account. An admin of one can invite you.</p>' : `<dl>${rows.join('')}</dl>`}
<h2>Change your password</h2>
<form method="post" action="${serviceAddress.path('/account/password')}">
${fieldHtml({ name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${fieldHtml({ name: 'newPassword', label: 'New password', type: 'password', autocomplete: 'new-password', hint: `${PASSWORD_HINT} You will be signed out everywhere else.` })}
${buttonHtml('Change password')}</form>`,
    });
  };

  app.get('/account', PAGE, (request, reply) => show(request, reply, null));

  app.post('/account/password', PAGE_WITH_FORM, async (request, reply) => {
    requireOwnPage(serviceAddress, request);
    const user = await app.identifyUser(request);
    if (user === null) return reply.redirect(serviceAddress.path('/sign-in?next=/account'), 303);
    try {
      const fields = { currentPassword: givenPassword, newPassword };
      const given = fieldsOf(request, fields);
      const started = await changePassword(user.userId, given, clientOf(serviceAddress, request));
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      return show(request, reply.code(status), note);
    }
    return reply.redirect(serviceAddress.path('/account'), 303);
  });
}
