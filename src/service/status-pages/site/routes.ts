import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import { closedDocument } from '../access/closed-page.tsx';
import type { PageAccess } from '../access/page-access.ts';
import { accessRoutes } from '../access/routes.ts';
import { badgeRoutes } from '../badges/routes.ts';
import { feedRoutes } from '../feeds/routes.ts';
import type { PageHistories } from '../history/page-history.ts';
import { historyRoutes } from '../history/routes.tsx';
import type { PagePictures } from '../pictures/pictures.ts';
import { pictureRoutes } from '../pictures/routes.ts';
import {
  type SubscriptionPagesParts,
  subscriptionPagesRoutes,
} from '../subscriptions/pages.routes.tsx';
import { CHALLENGE_PATH, challengeAnswer } from './domain-check.ts';
import { errorDocument } from './error-page.tsx';
import { MissLimit } from './miss-limit.ts';
import { pageRoutes } from './page.routes.tsx';
import { decorateRequests, pageAddress, type RequestedPage } from './requested-page.ts';
import type { StatusSite } from './site.ts';

export interface StatusSiteRoutesParts extends SubscriptionPagesParts {
  readonly serviceAddress: ServiceAddress;
  readonly statusSite: StatusSite;
  readonly pagePictures: PagePictures;
  readonly pageAccess: PageAccess;
  readonly pageHistories: PageHistories;
}

/**
 * The pages that people open, below /status/{url} and at custom domains (src/service/README.md,
 * "Pages that people open").
 */
export function statusSiteRoutes(parts: StatusSiteRoutesParts): FastifyPluginAsync {
  return async (app) => {
    decorateRequests(app);
    const misses = new MissLimit(app.lists.clock);
    app.addHook('onRequest', async (request) => {
      request.errorPage = errorDocument;
    });
    await app.register(challengeRoutes(parts), { prefix: '/status/:url' });
    await app.register(
      async (site) => {
        findPages(site, parts, misses);
        await site.register(pageRoutes(parts));
        await site.register(pictureRoutes(parts));
        await site.register(feedRoutes(parts));
        await site.register(badgeRoutes(parts));
        await site.register(subscriptionPagesRoutes(parts));
        await site.register(historyRoutes({ ...parts, misses }));
      },
      { prefix: '/status/:url' },
    );
    // Public: these routes decide who may read a page.
    await app.register(accessRoutes(parts), { prefix: '/status/:url' });
  };
}

/** Lets a check of a domain recognise that the domain leads here, also for private pages. */
function challengeRoutes(parts: StatusSiteRoutesParts): FastifyPluginAsync {
  const { pages, domains } = parts.statusSite;
  return async (app) => {
    app.get<{ Params: { readonly url: string } }>(
      CHALLENGE_PATH,
      { config: { public: true }, schema: { hide: true } },
      async (request, reply) => {
        const { url } = request.params;
        const found = domains.ownDomainOf(request, url) === null ? null : await pages.find(url);
        if (found === null) return closedDocument(request, reply, parts);
        return reply.type('text/plain; charset=utf-8').send(challengeAnswer(found.page.id));
      },
    );
  };
}

/** Each request of the site is for a page that its sender may read. Others get the same 404. */
function findPages(app: FastifyInstance, parts: StatusSiteRoutesParts, misses: MissLimit): void {
  const { serviceAddress, statusSite, pageAccess, subscriptions } = parts;
  const { pages, domains } = statusSite;

  async function found(request: FastifyRequest): Promise<RequestedPage | null> {
    const { url = '', token = '' } = request.params as { readonly url?: string; token?: string };
    const { statusPageByToken = false } = request.routeOptions.config;
    // Public pages in memory cost nothing, so they are exempt from the limit.
    if (pages.gateOf(url)?.isPrivate !== false) misses.check(request);
    const readable = statusPageByToken
      ? await pageAccess.findByToken(request, url, async (page) => {
          const subscription = await subscriptions.find(page, token);
          return subscription !== null;
        })
      : await pageAccess.find(request, url);
    if (readable === null) return null;
    const { gate, page } = readable;
    const address = pageAddress(request, url, { serviceAddress, domains });
    // Without PUBLIC_URL, clients can invent hosts, and each host has its own documents.
    if (pages.addresses.displaces(page.id, address.base)) {
      misses.check(request);
      misses.count(request);
    }
    return { accountId: gate.accountId, page, ...address };
  }

  app.addHook('onRequest', async (request, reply) => {
    request.statusPage = await found(request);
    if (request.statusPage !== null) return;
    misses.count(request);
    return closedDocument(request, reply, parts);
  });
}
