import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderHtml } from '../../../web/status/layout.tsx';
import { NotFound } from '../../../web/status/not-found.tsx';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import { DEFAULT_COLORS, HTML } from '../site/page.routes.tsx';
import { pageAddress } from '../site/requested-page.ts';
import { policyOf } from '../site/send-document.ts';
import type { StatusSite } from '../site/site.ts';
import { pathWithin } from './path-within.ts';

export interface ClosedPageParts {
  readonly serviceAddress: ServiceAddress;
  readonly statusSite: Pick<StatusSite, 'domains'>;
}

/**
 * The response for every address without a page that the reader may see. It depends only on the request, so it
 * does not reveal whether a private page exists.
 */
export function closedDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { serviceAddress, statusSite: { domains } }: ClosedPageParts,
  /** The result of the form, after it was sent. */
  sent: { readonly status: number; readonly note: string; readonly next: string } | null = null,
): FastifyReply {
  const { url = '' } = request.params as { readonly url?: string };
  const { path } = pageAddress(request, url, { serviceAddress, domains });
  const next = sent?.next ?? pathWithin(request.url.replace(/^\/status\/[^/?]*/, ''));
  const returnTo = encodeURIComponent(`/status/${encodeURIComponent(url)}${next}`);
  const html = renderHtml(
    <NotFound
      colors={DEFAULT_COLORS}
      access={{
        action: `${path}/access`,
        next,
        // A page's own domain does not have the session cookie of the service.
        signInHref: path === '' ? null : serviceAddress.path(`/sign-in?next=${returnTo}`),
        note: sent?.note ?? null,
      }}
    />,
  );
  return reply
    .code(sent?.status ?? 404)
    .headers({
      'cache-control': 'private, no-store',
      'content-security-policy': policyOf(DEFAULT_COLORS),
      // Browsers withhold the Origin of a form under the policy no-referrer.
      'referrer-policy': 'same-origin',
    })
    .type(HTML)
    .send(html);
}
