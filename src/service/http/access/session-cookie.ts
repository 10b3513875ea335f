import type { FastifyRequest } from 'fastify';
import type { ServiceAddress } from './service-address.ts';

/** Over HTTPS: browsers accept a cookie of this name only with Secure and for all paths. */
const SECURE_PREFIX = '__Host-';
const SESSION = 'vedette_session';

type Asked = Pick<FastifyRequest, 'protocol' | 'headers'>;

/** The token of a session in the cookies of a request. */
export function sessionTokenOf(serviceAddress: ServiceAddress, request: Asked): string | null {
  return cookieOf(serviceAddress, request, SESSION);
}

/** The value of a cookie; null if the request does not have it. */
export function cookieOf(
  serviceAddress: ServiceAddress,
  request: Asked,
  name: string,
): string | null {
  const start = `${cookieName(serviceAddress, request, name)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(start))?.slice(start.length) ?? null;
}

/** A Set-Cookie header, by default for the token of a session. */
export function cookieFor(
  serviceAddress: ServiceAddress,
  request: Asked,
  value: string,
  maxAgeSeconds: number,
  name = SESSION,
): string {
  const secure = serviceAddress.isHttps(request) ? '; Secure' : '';
  return `${cookieName(serviceAddress, request, name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieName(
  serviceAddress: ServiceAddress,
  request: Pick<FastifyRequest, 'protocol'>,
  name: string,
): string {
  return serviceAddress.isHttps(request) ? `${SECURE_PREFIX}${name}` : name;
}
