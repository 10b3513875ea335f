import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TrustsAddress } from '../../http/trusted-proxies.ts';
import { type DomainRules, hostNameOf } from './domain-rules.ts';

/**
 * Paths that only agents, jobs and orchestrators request. They are served at every host, so that a page whose
 * custom domain is a host of the service stops neither checks nor pings there.
 */
const FOR_MACHINES = /^\/(?:agent\/v1\/|heartbeat\/|-\/|health(?:\?|$))/;
const FOR_KEYS = /^\/v1\//;
const HAS_KEY = /^bearer /i;

/** Which page each custom domain belongs to. */
export class CustomDomains {
  readonly #domainRules: Pick<DomainRules, 'allow'>;
  /** Names in page addresses, by domain. */
  #urls: ReadonlyMap<string, string> = new Map();

  constructor(domainRules: Pick<DomainRules, 'allow'>) {
    this.#domainRules = domainRules;
  }

  set(pages: readonly { readonly customDomain: string; readonly url: string }[]): void {
    const allowed = pages.filter(({ customDomain }) => this.#domainRules.allow(customDomain));
    this.#urls = new Map(allowed.map(({ customDomain, url }) => [customDomain, url]));
  }

  /** The name in the address of the page that has the host as its domain; null without one. */
  urlAt(host: string): string | null {
    if (this.#urls.size === 0) return null;
    return this.#urls.get(hostNameOf(host)) ?? null;
  }

  /** The page's own domain if the request was sent to it; else null. */
  ownDomainOf({ host }: Pick<FastifyRequest, 'host'>, url: string): string | null {
    return this.urlAt(host) === url ? hostNameOf(host) : null;
  }

  /**
   * The path of a request within the service: below that of a page on the domain of the page, so that
   * readers find nothing else there.
   */
  readonly pathOf = (
    { url = '/', headers, socket }: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>,
    trusts: TrustsAddress,
  ): string => {
    if (this.#urls.size === 0) return url;
    const page = this.urlAt(hostOf(headers, trusts(socket.remoteAddress)));
    if (page === null || isForMachines(url, headers)) return url;
    const path = url.startsWith('/') ? url : '/-';
    return `/status/${page}${path.replace(/^\/(?=\?|$)/, '')}`;
  };
}

/** Whether a request is for machines. Keys count only below /v1/: elsewhere a key in a header must not change the page. */
function isForMachines(url: string, { authorization = '' }: IncomingMessage['headers']): boolean {
  return FOR_MACHINES.test(url) || (FOR_KEYS.test(url) && HAS_KEY.test(authorization));
}

/** As Fastify's `request.host`, before there is a request. */
function hostOf(headers: IncomingMessage['headers'], isTrusted: boolean): string {
  const forwarded = isTrusted ? [headers['x-forwarded-host'] ?? ''].flat().join(',') : '';
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return forwarded === '' ? (headers.host ?? '') : last;
}
