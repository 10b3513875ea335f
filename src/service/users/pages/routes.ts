import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { newPassword } from '../../../model/account/password.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { isSameOrigin, refuseForeignPage, requireOwnPage } from '../../http/access/same-origin.ts';
import {
  clearCookie,
  clientOf,
  giveSession,
  type SessionParts,
  userIfKnown,
} from '../../sessions/browser-session.ts';
import type { ChangePassword } from '../../sessions/change-password.ts';
import type { SignIn } from '../../sessions/sign-in.ts';
import { emailSchema } from '../email.ts';
import type { Invitations, ShownInvitation } from '../invitations.ts';
import { givenPassword } from '../password-hashing.ts';
import type { PasswordLinks } from '../password-links.ts';
import type { Setup } from '../setup.ts';
import type { SignInLink } from '../sign-in-link.ts';
import type { Users } from '../users.ts';
import { addForms, fieldsOf, givenIn, localPath, noteOf, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, hiddenHtml, LINK_GONE, type Note, sendPage } from './page.ts';
import { addSignInLink } from './sign-in-link.ts';

const PASSWORD_HINT = 'At least 8 characters. A sentence is easier to remember than symbols.';

export interface UserPagesParts extends SessionParts {
  readonly users: Pick<Users, 'accountsOf'>;
  readonly signIn: SignIn;
  readonly changePassword: ChangePassword;
  readonly invitations: Invitations;
  readonly setup: Setup;
  readonly passwordLinks: PasswordLinks;
  readonly signInLink: SignInLink;
  /** Whether users can sign in at an OpenID Connect provider. */
  readonly hasProvider: boolean;
}

interface OfToken {
  readonly Params: { readonly token: string };
}

/** The pages for signing in, which run no script (src/service/README.md, "Users and sessions"). */
export function userPagesRoutes(parts: UserPagesParts): FastifyPluginAsync {
  return async (app) => {
    addForms(app);
    addSignIn(app, parts);
    addSignInLink(app, parts);
    addAccount(app, parts);
    addSetup(app, parts);
    addInvitations(app, parts);
    addPasswordLinks(app, parts);
  };
}

function addSignIn(app: FastifyInstance, parts: UserPagesParts): void {
  const { serviceAddress, signIn, sessions, hasProvider } = parts;
  const atProvider = (next: string): string =>
    hasProvider
      ? `<a class="button" href="${serviceAddress.path(`/oidc/sign-in?next=${encodeURIComponent(next)}`)}">Sign in with single sign-on</a><div class="or">or</div>`
      : '';
  const show = (reply: FastifyReply, next: string, email = '', note: Note | null = null) =>
    sendPage(reply, {
      title: 'Sign in',
      note,
      main: `${atProvider(next)}<form method="post">${hiddenHtml('next', next)}
${fieldHtml({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', value: email, hasFocus: email === '' })}
${fieldHtml({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: email !== '' })}
${buttonHtml('Sign in')}</form>
<p>Forgot your password? Whoever runs this service can make a link for a new one.</p>`,
    });

  app.get<{ Querystring: { next?: string | string[] } }>(
    '/sign-in',
    PAGE,
    async (request, reply) => {
      const [next = ''] = [request.query.next ?? ''].flat();
      const isIn = (await userIfKnown(request)) !== null;
      return isIn
        ? reply.redirect(serviceAddress.path(localPath(next)), 303)
        : show(reply, localPath(next));
    },
  );

  app.post('/sign-in', PAGE_WITH_FORM, async (request, reply) => {
    const next = localPath(givenIn(request, 'next'));
    try {
      refuseForeignPage(serviceAddress, request);
      const given = fieldsOf(request, { email: emailSchema, password: givenPassword });
      const started = await signIn.byPassword(given, clientOf(serviceAddress, request));
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      return show(reply.code(status), next, givenIn(request, 'email'), note);
    }
    return reply.redirect(serviceAddress.path(next), 303);
  });

  app.post('/sign-out', PAGE_WITH_FORM, async (request, reply) => {
    requireOwnPage(serviceAddress, request);
    const user = await app.identifyUser(request);
    if (user !== null) {
      const { ip } = request;
      if (givenIn(request, 'everywhere') !== '') await sessions.endAll(user.userId, ip);
      else await sessions.end(user.userId, user.sessionId, ip);
    }
    clearCookie(serviceAddress, request, reply);
    return reply.redirect(serviceAddress.path('/sign-in'), 303);
  });
}

function addAccount(app: FastifyInstance, parts: UserPagesParts): void {
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

function addSetup(app: FastifyInstance, parts: UserPagesParts): void {
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

function addInvitations(app: FastifyInstance, parts: UserPagesParts): void {
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

function addPasswordLinks(app: FastifyInstance, parts: UserPagesParts): void {
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
