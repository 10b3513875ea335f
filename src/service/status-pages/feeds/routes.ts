import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { OPEN } from '../site/page.routes.tsx';
import { type RequestedPage, requestedPage } from '../site/requested-page.ts';
import { sendDocument } from '../site/send-document.ts';
import type { StatusSite } from '../site/site.ts';
import type { PageState } from '../state/page-state.ts';
import { atomFeed } from './atom.ts';
import { feedOf } from './entries.ts';
import { rssFeed } from './rss.ts';
import { pageSummaryOf } from './summary.ts';

interface PublicDocument {
  readonly type: string;
  readonly make: (requested: RequestedPage, state: PageState) => string;
}

/** By their names below the page. */
const DOCUMENTS: Readonly<Record<string, PublicDocument>> = {
  'feed.atom': {
    type: 'application/atom+xml; charset=utf-8',
    make: (requested, state) => atomFeed(feedOf(requested, state), `${requested.base}/feed.atom`),
  },
  'feed.rss': {
    type: 'application/rss+xml; charset=utf-8',
    make: (requested, state) => rssFeed(feedOf(requested, state), `${requested.base}/feed.rss`),
  },
  'summary.json': {
    type: 'application/json; charset=utf-8',
    make: (requested, state) => JSON.stringify(pageSummaryOf(requested, state)),
  },
};

/** A status page for programs: feeds of its incidents and maintenance, and its summary. */
export function feedRoutes({
  statusSite,
}: {
  readonly statusSite: Pick<StatusSite, 'pages'>;
}): FastifyPluginAsync {
  return async (app) => {
    for (const [name, { type, make }] of Object.entries(DOCUMENTS)) {
      app.get(`/${name}`, OPEN, async (request, reply) => {
        const requested = requestedPage(request);
        const cached = await statusSite.pages.get(requested);
        const document = cached.document(name, (state) => make(requested, state));
        forEveryOrigin(reply, requested);
        return sendDocument(request, reply, document, { type, page: requested });
      });
    }
  };
}

/** Pages of other sites may read and embed what everybody may read. */
export function forEveryOrigin(reply: FastifyReply, { page }: RequestedPage): void {
  if (page.fields.isPrivate) return;
  reply.headers({
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  });
}
