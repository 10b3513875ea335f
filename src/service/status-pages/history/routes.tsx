import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { renderHtml } from '../../../web/status/layout.tsx';
import type { MissLimit } from '../site/miss-limit.ts';
import { HTML, notFoundDocument, OPEN } from '../site/page.routes.tsx';
import { type RequestedPage, requestedPage } from '../site/requested-page.ts';
import { sendDocument } from '../site/send-document.ts';
import type { StatusSite } from '../site/site.ts';
import { type Month, monthAt, monthBefore, monthNamed } from './months.ts';
import type { PageHistories } from './page-history.ts';
import { HistoryView } from './view/history.tsx';
import { IncidentView } from './view/incident.tsx';

export interface HistoryParts {
  readonly statusSite: Pick<StatusSite, 'pages'>;
  readonly pageHistories: PageHistories;
  readonly misses: MissLimit;
}

/** The months that `/history` shows at once. */
const NEWEST_MONTHS = 3;
const INCIDENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Incidents by their permanent links, and the events of each month. */
export function historyRoutes(parts: HistoryParts): FastifyPluginAsync {
  const { statusSite, pageHistories, misses } = parts;

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    name: string,
    make: (requested: RequestedPage) => Promise<string | null>,
  ) {
    const page = requestedPage(request);
    if (!statusSite.pages.knowsHistory(page, name)) misses.check(request);
    const document = await statusSite.pages.history(page, name, () => make(page));
    if (document === null) {
      misses.count(request);
      return notFoundDocument(reply);
    }
    return sendDocument(request, reply, document, { type: HTML, page });
  }

  async function historyHtml(requested: RequestedPage, months: readonly Month[]): Promise<string> {
    // Determined each time: a document may be cached beyond the end of the current month.
    const nowMs = pageHistories.nowMs();
    const [newest] = months;
    const oldest = months.at(-1);
    const neighbour = (name: string | undefined) =>
      name === undefined ? null : monthNamed(name, nowMs);
    return renderHtml(
      <HistoryView
        requested={requested}
        months={await pageHistories.months({ ...requested, months })}
        later={neighbour(newest && monthBefore(newest, -1).name)}
        earlier={neighbour(oldest && monthBefore(oldest).name)}
        names={namesOf(requested)}
      />,
    );
  }

  return async (app) => {
    app.get<{ Params: { readonly incidentId: string } }>(
      '/incidents/:incidentId',
      OPEN,
      async (request, reply) => {
        const { incidentId } = request.params;
        if (!INCIDENT_ID.test(incidentId)) return notFoundDocument(reply);
        return send(request, reply, `incidents/${incidentId}`, async (requested) => {
          const incident = await pageHistories.incident({ ...requested, incidentId });
          if (incident === null) return null;
          const names = namesOf(requested);
          return renderHtml(
            <IncidentView requested={requested} incident={incident} names={names} />,
          );
        });
      },
    );

    app.get('/history', OPEN, async (request, reply) => {
      const current = monthAt(pageHistories.nowMs());
      const months = Array.from({ length: NEWEST_MONTHS }, (_, at) => monthBefore(current, at));
      return send(request, reply, `history of ${current.name}`, (requested) =>
        historyHtml(requested, months),
      );
    });

    app.get<{ Params: { readonly month: string } }>(
      '/history/:month',
      OPEN,
      async (request, reply) => {
        const month = monthNamed(request.params.month, pageHistories.nowMs());
        if (month === null) return notFoundDocument(reply);
        return send(request, reply, `history/${month.name}`, (requested) =>
          historyHtml(requested, [month]),
        );
      },
    );
  };
}

function namesOf({ page }: RequestedPage): ReadonlyMap<string, string> {
  return new Map(page.cards.flatMap(({ services }) => services.map(({ id, name }) => [id, name])));
}
