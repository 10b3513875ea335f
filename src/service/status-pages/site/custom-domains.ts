import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TrustsAddress } from '../../http/trusted-proxies.ts';

/** What does not matter of the host of a request: the dot of the root (RFC 1034 3.1), and the port. */
const DOT_AND_PORT = /\.?(?::\d*)?$/;

/** The host of PUBLIC_URL, at which the service is: no page can have it. */
export function hostOfService(publicUrl: string | null): string | null {
  return publicUrl === null ? null : new URL(publicUrl).hostname;
}

/** Which page each custom domain belongs to. */
export class CustomDomains {
  readonly #ownHost: string | null;
  /** Names in page addresses, by domain. */
  #urls: ReadonlyMap<string, string> = new Map();

  /** @param publicUrl PUBLIC_URL; null where it is not known */
  constructor(publicUrl: string | null) {
    this.#ownHost = hostOfService(publicUrl);
  }

  set(pages: readonly { readonly customDomain: string; readonly url: string }[]): void {
    const foreign = pages.filter(({ customDomain }) => customDomain !== this.#ownHost);
    this.#urls = new Map(foreign.map(({ customDomain, url }) => [customDomain, url]));
  }

  /** The name in the address of the page that has the host as its domain; null without one. */
  urlAt(host: string): string | null {
    if (this.#urls.size === 0) return null;
    return this.#urls.get(host.toLowerCase().replace(DOT_AND_PORT, '')) ?? null;
  }

  /** Whether a request came to a page's own domain. */
  isOwn({ host }: Pick<FastifyRequest, 'host'>, url: string): boolean {
    return this.urlAt(host) === url;
  }

  /**
   * The path of a request within the service: below that of a page on the domain of the page, so that
   * nothing else is served there.
   */
  readonly pathOf = (
    { url = '/', headers, socket }: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>,
    trusts: TrustsAddress,
  ): string => {
    if (this.#urls.size === 0) return url;
    const page = this.urlAt(hostOf(headers, trusts(socket.remoteAddress)));
    if (page === null) return url;
    const path = url.startsWith('/') ? url : '/-';
    return `/status/${page}${path.replace(/^\/(?=\?|$)/, '')}`;
  };
}

/** As Fastify's `request.host`, before there is a request. */
function hostOf(headers: IncomingMessage['headers'], isTrusted: boolean): string {
  const forwarded = isTrusted ? [headers['x-forwarded-host'] ?? ''].flat().join(',') : '';
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return forwarded === '' ? (headers.host ?? '') : last;
}
