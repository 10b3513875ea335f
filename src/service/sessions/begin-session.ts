import type { FastifyReply, FastifyRequest } from 'fastify';
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
  const earlier = await request.server.identifyUser(request);
  if (earlier !== null) await sessions.end(earlier.userId, earlier.sessionId);
  reply.header('set-cookie', site.cookieFor(request, token, maxAgeSeconds));
}

/** Makes the browser forget its session. */
export function clearCookie(site: Site, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('set-cookie', site.cookieFor(request, '', 0));
}
