import type { FastifyInstance, FastifyReply } from 'fastify';
import { refuseForeignPage, requireOwnPage } from '../../http/access/same-origin.ts';
import {
  clearCookie,
  clientOf,
  giveSession,
  type SessionParts,
  userIfKnown,
} from '../../sessions/browser-session.ts';
import type { SignIn } from '../../sessions/sign-in.ts';
import { emailSchema } from '../email.ts';
import { givenPassword } from '../password-hashing.ts';
import { fieldsOf, givenIn, localPath, noteOf, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, fieldHtml, hiddenHtml, type Note, sendPage } from './page.ts';

export interface SignInPageParts extends SessionParts {
  readonly signIn: SignIn;
  /** Whether users can sign in at an OpenID Connect provider. */
  readonly hasProvider: boolean;
}

/** Where users sign in, and out. */
export function addSignIn(app: FastifyInstance, parts: SignInPageParts): void {
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
