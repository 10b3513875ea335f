import type { FastifyRequest } from 'fastify';
import { requestOrigin } from '../base-url.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];
/** For an HTTPS site: browsers accept a cookie of this name only with Secure and for all paths. */
const SECURE_PREFIX = '__Host-';
const SESSION = 'vedette_session';

type Reached = Pick<FastifyRequest, 'protocol' | 'host'>;
type Asked = Reached & Pick<FastifyRequest, 'headers'>;

/** The service as browsers see it: the base of links, the cookie of a session, and its own pages. */
export class Site {
  readonly #publicUrl: URL | null;

  /** @param publicUrl PUBLIC_URL; null for the address of each request */
  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl === null ? null : new URL(publicUrl);
  }

  /** The base of links, without a slash at its end. */
  baseOf(request: Reached): string {
    const { href } = this.#publicUrl ?? { href: requestOrigin(request) };
    return href.replace(/\/+$/, '');
  }

  /** A path of the service as browsers reach it: PUBLIC_URL may have a path. */
  path(path: string): string {
    return `${(this.#publicUrl?.pathname ?? '').replace(/\/+$/, '')}${path}`;
  }

  isHttps({ protocol }: Pick<FastifyRequest, 'protocol'>): boolean {
    return (this.#publicUrl?.protocol ?? `${protocol}:`) === 'https:';
  }

  /**
   * Whether a request is safe from forgery by another site (OWASP, Cross-Site Request Forgery
   * Prevention): its method changes nothing, or the browser says that a page of the service sent it.
   */
  isOwn(request: Asked & Pick<FastifyRequest, 'method'>): boolean {
    if (SAFE_METHODS.includes(request.method)) return true;
    const { 'sec-fetch-site': fetchSite } = request.headers;
    // No page can set or forge this header.
    if (fetchSite !== undefined) return fetchSite === 'same-origin';
    return this.hasOrigin(request);
  }

  /** Whether the Origin of a request is that of the service. */
  hasOrigin(request: Asked): boolean {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    return origin === this.#publicUrl?.origin || origin === requestOrigin(request);
  }

  /** Whether the browser says that a page of another site sent the request. */
  isForeign(request: Asked & Pick<FastifyRequest, 'method'>): boolean {
    const { origin, 'sec-fetch-site': fetchSite } = request.headers;
    return (origin !== undefined || fetchSite !== undefined) && !this.isOwn(request);
  }

  /** The token of a session in the cookies of a request. */
  tokenOf(request: Asked): string | null {
    return this.cookieOf(request, SESSION);
  }

  /** The value of a cookie; null where the request does not have it. */
  cookieOf(request: Asked, name: string): string | null {
    const start = `${this.#cookieName(request, name)}=`;
    const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
    return cookies.find((each) => each.startsWith(start))?.slice(start.length) ?? null;
  }

  /** A Set-Cookie header, by default for the token of a session. */
  cookieFor(request: Reached, value: string, maxAgeSeconds: number, name = SESSION): string {
    const secure = this.isHttps(request) ? '; Secure' : '';
    return `${this.#cookieName(request, name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  }

  #cookieName(request: Reached, name: string): string {
    return this.isHttps(request) ? `${SECURE_PREFIX}${name}` : name;
  }
}
