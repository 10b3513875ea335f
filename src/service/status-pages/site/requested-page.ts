import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { StoredPage } from '../status-pages.ts';

/** The status page that a request of the site is for, which its sender may read. */
export interface RequestedPage {
  readonly page: StoredPage;
  readonly accountId: string;
  /** Absolute, without a slash at its end: https://host/status/acme or https://status.acme.com. */
  readonly base: string;
  /** The start of links: /status/acme (after the path of PUBLIC_URL), or '' on a domain of its own. */
  readonly path: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The token in the path gives access, also to a private page: the route checks it. */
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
