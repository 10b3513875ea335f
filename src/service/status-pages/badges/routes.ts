import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { encoded } from '../../http/handbook/responses.ts';
import { forEveryOrigin } from '../feeds/routes.ts';
import { notFoundDocument, OPEN } from '../site/page.routes.tsx';
import { requestedPage } from '../site/requested-page.ts';
import { sendDocument } from '../site/send-document.ts';
import type { StatusSite } from '../site/site.ts';
import { BADGE_DAYS, BADGE_KINDS, type BadgeKind, badgeOf } from './badges.ts';
import { badgeSvg } from './draw-badge.ts';

const SVG = 'image/svg+xml; charset=utf-8';
const MAX_LABEL_CHARS = 64;

/** Pictures of the state of a page and of its services, for README files and dashboards of others. */
export function badgeRoutes({
  statusSite,
}: {
  readonly statusSite: Pick<StatusSite, 'pages'>;
}): FastifyPluginAsync {
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    kind: BadgeKind,
    serviceId: string | null,
  ) {
    const requested = requestedPage(request);
    const cached = await statusSite.pages.get(requested);
    const { label, days } = queryOf(request);
    const badge = badgeOf(cached.state, { kind, days, serviceId });
    if (badge === null) return notFoundDocument(reply);
    forEveryOrigin(reply, requested);
    const name = `badges/${serviceId ?? ''}/${kind}/${days}`;
    // Badges with a label of the request are not cached: they would displace other documents.
    const document =
      label === null
        ? cached.document(name, () => badgeSvg(badge))
        : encoded(badgeSvg({ value: badge.value, color: badge.color, label }));
    return sendDocument(request, reply, document, { type: SVG, page: requested });
  }

  return async (app) => {
    for (const kind of BADGE_KINDS) {
      app.get(`/badges/${kind}.svg`, OPEN, (request, reply) => send(request, reply, kind, null));
      app.get<{ Params: { serviceId: string } }>(
        `/badges/:serviceId/${kind}.svg`,
        OPEN,
        (request, reply) => send(request, reply, kind, request.params.serviceId),
      );
    }
  };
}

/** Parses the query. Invalid values get their default, since a picture cannot show an error. */
function queryOf({ query }: FastifyRequest) {
  const { label, days } = query as Readonly<Record<string, unknown>>;
  return {
    label:
      typeof label === 'string' && label.trim() !== '' ? label.slice(0, MAX_LABEL_CHARS) : null,
    days: BADGE_DAYS.find((each) => String(each) === days) ?? 90,
  };
}
