import type { FastifyRequest } from 'fastify';
import type { Site } from '../../http/access/service-address.ts';

const NAME = 'vedette_page';
/** Browsers accept a cookie of this name only with Secure: no page without https can set one. */
const SECURE_PREFIX = '__Secure-';

type Asked = Pick<FastifyRequest, 'protocol' | 'headers'>;

/** The passes of a request, of the page that it is for. */
export function passesIn(site: Site, request: Asked): readonly string[] {
  const start = `${nameFor(site, request)}=`;
  return (request.headers.cookie ?? '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(start))
    .map((each) => each.slice(start.length))
    .slice(0, MAX_PASSES);
}

/** A browser sends one of each path, and pages have paths of their own. */
const MAX_PASSES = 4;

/** A Set-Cookie header: browsers send it with requests at and below the path, and no others. */
export function passCookie(
  site: Site,
  request: Asked,
  { pass, path, maxAgeSeconds }: { pass: string; path: string; maxAgeSeconds: number },
): string {
  const secure = site.isHttps(request) ? '; Secure' : '';
  return `${nameFor(site, request)}=${pass}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function nameFor(site: Site, request: Asked): string {
  return site.isHttps(request) ? `${SECURE_PREFIX}${NAME}` : NAME;
}
