import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../http/access/caller.ts';
import type { ServiceAddress } from '../http/access/service-address.ts';
import { cookieFor, cookieOf } from '../http/access/session-cookie.ts';
import type { Client, NewSession } from './begin-session.ts';
import type { Sessions } from './sessions.ts';

export interface SessionParts {
  readonly serviceAddress: ServiceAddress;
  readonly sessions: Sessions;
}

const DEVICE = 'vedette_device';
const DEVICE_SECONDS = 365 * 86_400;

export function clientOf(serviceAddress: ServiceAddress, request: FastifyRequest): Client {
  const { ip: address, headers } = request;
  const device = cookieOf(serviceAddress, request, DEVICE);
  return { address, userAgent: headers['user-agent'] ?? '', device };
}

/** Starts a new session in the browser and ends its previous one, so that no token outlives a sign-in. */
export async function giveSession(
  { serviceAddress, sessions }: SessionParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, maxAgeSeconds, device }: NewSession,
): Promise<void> {
  reply.header('set-cookie', cookieFor(serviceAddress, request, token, maxAgeSeconds));
  if (device !== null) {
    reply.header('set-cookie', cookieFor(serviceAddress, request, device, DEVICE_SECONDS, DEVICE));
  }
  const earlier = await userIfKnown(request);
  if (earlier !== null) await sessions.end(earlier.userId, earlier.sessionId, request.ip);
}

/**
 * Returns the user of the request's cookie, for routes that also work without one. A cookie that cannot be looked
 * up counts as none: other clients at the same address may have used up the limit of wrong keys.
 */
export function userIfKnown(request: FastifyRequest): Promise<SignedIn | null> {
  return request.server.identifyUser(request).catch(() => null);
}

/** Deletes the session cookie in the browser. */
export function clearCookie(
  serviceAddress: ServiceAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header('set-cookie', cookieFor(serviceAddress, request, '', 0));
}
