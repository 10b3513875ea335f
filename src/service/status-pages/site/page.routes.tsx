import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { statusPageSchema } from '../../../model/status-page/status-page.ts';
import { renderHtml } from '../../../web/status/layout.tsx';
import { NotFound } from '../../../web/status/not-found.tsx';
import { requestedPage } from './requested-page.ts';
import { policyOf, sendDocument } from './send-document.ts';
import type { StatusSite } from './site.ts';
import { StatusPageView } from './view/status-page.tsx';

/** Pages are served from memory: a rate limit would cost more than the page. */
export const OPEN = { config: { public: true, rateLimit: false }, schema: { hide: true } } as const;
export const HTML = 'text/html; charset=utf-8';

/** The page itself. */
export function pageRoutes({
  statusSite,
}: {
  readonly statusSite: StatusSite;
}): FastifyPluginAsync {
  return async (app) => {
    app.get('/', OPEN, async (request, reply) => {
      const requested = requestedPage(request);
      const cached = await statusSite.pages.get(requested);
      const document = cached.document('page', (state) =>
        renderHtml(<StatusPageView requested={requested} state={state} isStale={cached.isStale} />),
      );
      return sendDocument(request, reply, document, { type: HTML, page: requested });
    });
    app.get('/*', OPEN, async (_request, reply) => notFoundDocument(reply));
  };
}

export const DEFAULT_COLORS = {
  themeColors: statusPageSchema.shape.themeColors.parse(undefined),
  defaultTheme: 'AUTO',
} as const;
let notFoundHtml: string | null = null;

/** For an address below a page that its reader may read. */
export function notFoundDocument(reply: FastifyReply): FastifyReply {
  notFoundHtml ??= renderHtml(<NotFound colors={DEFAULT_COLORS} access={null} />);
  return reply
    .code(404)
    .header('content-security-policy', policyOf(DEFAULT_COLORS))
    .type(HTML)
    .send(notFoundHtml);
}
