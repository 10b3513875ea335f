import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { tooManyRequests } from '../../errors.ts';
import type { Site } from '../../http/access/site.ts';
import { badgeRoutes } from '../badges/routes.ts';
import { feedRoutes } from '../feeds/routes.ts';
import type { PagePictures } from '../pictures/pictures.ts';
import { pictureRoutes } from '../pictures/routes.ts';
import {
  type SubscriptionPagesParts,
  subscriptionPagesRoutes,
} from '../subscriptions/pages.routes.tsx';
import { CHALLENGE_PATH, challengeAnswer } from './domain-check.ts';
import { notFoundDocument, pageRoutes } from './page.routes.tsx';
import { decorateRequests, type RequestedPage } from './requested-page.ts';
import type { StatusSite } from './site.ts';

export interface StatusSiteRoutesParts extends SubscriptionPagesParts {
  readonly site: Site;
  readonly statusSite: StatusSite;
  readonly pagePictures: PagePictures;
}

/** The most look-ups of names without a page in a minute, for each address. */
const MAX_UNKNOWN_PER_MINUTE = 300;

/** The pages that people open, below /status/{url} and at custom domains: README.md, of the service. */
export function statusSiteRoutes(parts: StatusSiteRoutesParts): FastifyPluginAsync {
  return async (app) => {
    decorateRequests(app);
    await app.register(challengeRoutes(parts), { prefix: '/status/:url' });
    await app.register(
      async (site) => {
        findPages(site, parts);
        await site.register(pageRoutes(parts));
        await site.register(pictureRoutes(parts));
        await site.register(feedRoutes(parts));
        await site.register(badgeRoutes(parts));
        await site.register(subscriptionPagesRoutes(parts));
      },
      { prefix: '/status/:url' },
    );
  };
}

/** By which a check of a domain sees that it leads here; also for private pages, and nowhere else. */
function challengeRoutes({ statusSite }: StatusSiteRoutesParts): FastifyPluginAsync {
  const { pages, domains } = statusSite;
  return async (app) => {
    app.get<{ Params: { readonly url: string } }>(
      CHALLENGE_PATH,
      { config: { public: true }, schema: { hide: true } },
      async (request, reply) => {
        const { url } = request.params;
        const found = domains.isOwn(request, url) ? await pages.find(url) : null;
        if (found === null) return notFoundDocument(reply);
        return reply.type('text/plain; charset=utf-8').send(challengeAnswer(found.page.id));
      },
    );
  };
}

/** Each request of the site is for a page that its sender may read. Others get the same 404. */
function findPages(app: FastifyInstance, { site, statusSite }: StatusSiteRoutesParts): void {
  const countUnknown = app.createRateLimit({ max: MAX_UNKNOWN_PER_MINUTE });
  const { pages, domains } = statusSite;

  async function found(request: FastifyRequest): Promise<RequestedPage | null> {
    const { url = '' } = request.params as { readonly url?: string };
    const known = await pages.find(url);
    const { statusPageByToken = false } = request.routeOptions.config;
    if (known === null || (known.page.fields.isPrivate && !statusPageByToken)) return null;
    const own = domains.isOwn(request, url);
    const origin = `${site.isHttps(request) ? 'https' : 'http'}://${request.host}`;
    return {
      ...known,
      base: own ? origin : `${site.baseOf(request)}/status/${url}`,
      path: own ? '' : site.path(`/status/${url}`),
    };
  }

  app.addHook('onRequest', async (request, reply) => {
    request.statusPage = await found(request);
    if (request.statusPage !== null) return;
    const counted = await countUnknown(request);
    if (!counted.isAllowed && counted.isExceeded) {
      throw tooManyRequests(counted.max, counted.ttlInSeconds);
    }
    return notFoundDocument(reply);
  });
}
