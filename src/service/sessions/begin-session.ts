import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../http/access/authenticator.ts';
import type { Site } from '../http/access/site.ts';
import type { Client, NewSession, Sessions } from './sessions.ts';

export interface SessionParts {
  readonly site: Site;
  readonly sessions: Sessions;
}

export function clientOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Client {
  return { address: ip, userAgent: headers['user-agent'] ?? '' };
}

/** Gives the browser a new session, and ends the one that it had: no token outlives a sign-in. */
export async function beginSession(
  { site, sessions }: SessionParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, maxAgeSeconds }: NewSession,
): Promise<void> {
  reply.header('set-cookie', site.cookieFor(request, token, maxAgeSeconds));
  const earlier = await userIfKnown(request);
  if (earlier !== null) await sessions.end(earlier.userId, earlier.sessionId, request.ip);
}

/**
 * The user of the request's cookie, for what also works without one. A cookie that cannot be looked up
 * counts as none: others at the address of the client may have used up its limit of wrong keys.
 */
export function userIfKnown(request: FastifyRequest): Promise<SignedIn | null> {
  return request.server.identifyUser(request).catch(() => null);
}

/** Makes the browser forget its session. */
export function clearCookie(site: Site, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('set-cookie', site.cookieFor(request, '', 0));
}
