import type { FastifyRequest } from 'fastify';
import type { ServiceAddress } from '../../http/access/service-address.ts';

const NAME = 'vedette_page';
/** Browsers accept a cookie of this name only with Secure: no page without https can set one. */
const SECURE_PREFIX = '__Secure-';

type Asked = Pick<FastifyRequest, 'protocol' | 'headers'>;

/** The page tokens in a request for its page. */
export function pageTokensIn(serviceAddress: ServiceAddress, request: Asked): readonly string[] {
  const start = `${nameFor(serviceAddress, request)}=`;
  return (request.headers.cookie ?? '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(start))
    .map((each) => each.slice(start.length))
    .slice(0, MAX_PAGE_TOKENS);
}

/** A browser sends at most one for each matching path, and each page has its own path. */
const MAX_PAGE_TOKENS = 4;

/** A Set-Cookie header: browsers send it with requests at and below the path, and no others. */
export function pageTokenCookie(
  serviceAddress: ServiceAddress,
  request: Asked,
  { token, path, maxAgeSeconds }: { token: string; path: string; maxAgeSeconds: number },
): string {
  const secure = serviceAddress.isHttps(request) ? '; Secure' : '';
  return `${nameFor(serviceAddress, request)}=${token}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function nameFor(serviceAddress: ServiceAddress, request: Asked): string {
  return serviceAddress.isHttps(request) ? `${SECURE_PREFIX}${NAME}` : NAME;
}
