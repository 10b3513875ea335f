import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../../runtime/net/loopback.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import { clientOf, giveSession, type SessionParts } from '../../sessions/browser-session.ts';
import type { SignInLink } from '../sign-in-link.ts';
import { noteOf, type OfToken, PAGE, PAGE_WITH_FORM } from './forms.ts';
import { buttonHtml, LINK_GONE, type Note, sendPage } from './page.ts';

export interface SignInLinkParts extends SessionParts {
  readonly signInLink: SignInLink;
}

/**
 * The page of the link that `vedette up` prints. Opening it changes nothing, because browsers and terminals may
 * preload links: only the button on the page signs in.
 */
export function addSignInLink(app: FastifyInstance, parts: SignInLinkParts): void {
  const { serviceAddress, signInLink } = parts;
  const show = (reply: FastifyReply, note: Note | null = null) =>
    sendPage(reply, {
      title: 'Sign in',
      note,
      main: `<p>This signs you in as an admin, without a password. The link works once.</p>
<form method="post">${buttonHtml('Sign in')}</form>`,
    });
  const gone = (reply: FastifyReply) =>
    sendPage(reply.code(404), {
      title: 'Sign in',
      note: { kind: 'fail', text: LINK_GONE },
      main: `<p>Each start of <code>vedette up</code> prints another one.</p><a class="button" href="${serviceAddress.path('/sign-in')}">Sign in with a password</a>`,
    });
  const isOpen = (request: FastifyRequest<OfToken>): boolean =>
    isAtThisMachine(request) && signInLink.isOpen(request.params.token);

  app.get<OfToken>('/sign-in/:token', PAGE, async (request, reply) =>
    isOpen(request) ? show(reply) : gone(reply),
  );

  app.post<OfToken>('/sign-in/:token', PAGE_WITH_FORM, async (request, reply) => {
    if (!isOpen(request)) return gone(reply);
    try {
      refuseForeignPage(serviceAddress, request);
      const started = await signInLink.accept(
        request.params.token,
        clientOf(serviceAddress, request),
      );
      await giveSession(parts, request, reply, started);
    } catch (error) {
      const { status, note } = noteOf(error);
      return status === 404 ? gone(reply) : show(reply.code(status), note);
    }
    return reply.redirect(serviceAddress.path('/'), 303);
  });
}

/** Refuses other host names: with DNS rebinding, a page of another site could reach this address. */
function isAtThisMachine({ headers: { host = '' } }: FastifyRequest): boolean {
  const name = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host);
  return isLoopbackHost(name?.[1] ?? name?.[2] ?? '');
}
