import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import type { StoredPage } from '../status-pages.ts';
import type { CustomDomains } from './custom-domains.ts';

/** The address of a page as the sender of a request sees it. */
export interface PageAddress {
  /** Absolute, without a slash at its end: https://host/status/acme or https://status.acme.com. */
  readonly base: string;
  /** The start of links: /status/acme (after the path of PUBLIC_URL), or '' on a domain of its own. */
  readonly path: string;
}

/** The status page that a request of the site is for, which its sender may read. */
export interface RequestedPage extends PageAddress {
  readonly page: StoredPage;
  readonly accountId: string;
}

/** The address of the page that a request names, whether or not there is one. */
export function pageAddress(
  request: FastifyRequest,
  url: string,
  {
    serviceAddress,
    domains,
  }: { readonly serviceAddress: ServiceAddress; readonly domains: CustomDomains },
): PageAddress {
  const domain = domains.ownDomainOf(request, url);
  if (domain !== null) {
    // Does not use the Host header, whose port and case the sender chooses: caches would serve it to others.
    return { base: `${serviceAddress.isHttps(request) ? 'https' : 'http'}://${domain}`, path: '' };
  }
  const name = encodeURIComponent(url);
  return {
    base: `${serviceAddress.baseUrl(request)}/status/${name}`,
    path: serviceAddress.path(`/status/${name}`),
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The token of a subscription in the path gives access, also to a private page. */
    statusPageByToken?: true;
  }
  interface FastifyRequest {
    /** Null outside of the site of status pages. */
    statusPage: RequestedPage | null;
  }
}

export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('statusPage', null);
}

/** @throws Error outside of the site of status pages: a programming error */
export function requestedPage({ statusPage }: Pick<FastifyRequest, 'statusPage'>): RequestedPage {
  if (statusPage === null) throw new Error('the route is not one of a status page');
  return statusPage;
}
