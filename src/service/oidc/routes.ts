import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { cookieFor, cookieOf } from '../http/access/session-cookie.ts';
import { clientOf, giveSession, type SessionParts } from '../sessions/browser-session.ts';
import { localPath, noteOf } from '../users/pages/forms.ts';
import { sendPage } from '../users/pages/page.ts';
import type { Identities } from './identities.ts';
import type { Provider } from './provider.ts';

const PAGE = { config: { public: true, uncompressed: true }, schema: { hide: true } } as const;
const CALLBACK = '/oidc/callback';
const COOKIE = 'vedette_oidc';
/** Long enough to type a password and a second factor. */
const PENDING_SECONDS = 900;

const pendingSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
});

export interface Oidc {
  readonly provider: Provider;
  readonly identities: Identities;
  readonly sessionMaxMs: number;
}

/** Signing in at the OpenID Connect provider, if there is one: README.md of users. */
export function oidcRoutes({
  oidc,
  ...parts
}: SessionParts & { readonly oidc: Oidc | null }): FastifyPluginAsync {
  const { serviceAddress, sessions } = parts;
  const failed = (reply: FastifyReply, error: unknown) => {
    const { status, note } = noteOf(error);
    return sendPage(reply.code(status), {
      title: 'Sign in',
      note,
      main: `<a class="button" href="${serviceAddress.path('/sign-in')}">Back to signing in</a>`,
    });
  };
  return async (app) => {
    if (oidc === null) return;
    const { provider, identities, sessionMaxMs: maxMs } = oidc;

    app.get<{ Querystring: { next?: string | string[] } }>(
      '/oidc/sign-in',
      PAGE,
      async (request, reply) => {
        const [next = ''] = [request.query.next ?? ''].flat();
        try {
          const { url, pending } = await provider.begin(
            `${serviceAddress.baseUrl(request)}${CALLBACK}`,
          );
          const text = JSON.stringify({ ...pending, next: localPath(next) });
          const value = Buffer.from(text).toString('base64url');
          reply.header(
            'set-cookie',
            cookieFor(serviceAddress, request, value, PENDING_SECONDS, COOKIE),
          );
          return reply.redirect(url.href, 303);
        } catch (error) {
          return failed(reply, error);
        }
      },
    );

    app.get(CALLBACK, PAGE, async (request, reply) => {
      try {
        const pending = pendingIn(cookieOf(serviceAddress, request, COOKIE));
        // The pending sign-in can be used only once, even if it fails.
        reply.header('set-cookie', cookieFor(serviceAddress, request, '', 0, COOKIE));
        const [, query = ''] = request.url.split('?', 2);
        const callback = new URL(`${serviceAddress.baseUrl(request)}${CALLBACK}?${query}`);
        const client = clientOf(serviceAddress, request);
        const userId = await identities.admit(await provider.finish(callback, pending), client);
        const started = await sessions.start(userId, client, { kind: 'provider', maxMs });
        await giveSession(parts, request, reply, started);
        return reply.redirect(serviceAddress.path(localPath(pending.next)), 303);
      } catch (error) {
        return failed(reply, error);
      }
    });
  };
}

/** @throws ServiceError 400 where the browser has begun no sign-in */
function pendingIn(cookie: string | null): z.output<typeof pendingSchema> {
  const parsed = pendingSchema.safeParse(jsonIn(cookie ?? ''));
  if (parsed.success) return parsed.data;
  throw new ServiceError(
    400,
    'This sign-in was begun in another browser, or too long ago: begin again',
  );
}

function jsonIn(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
