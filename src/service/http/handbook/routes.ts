import type { FastifyPluginAsync } from 'fastify';
import { type Handbook, pageOf } from '../../../handbook/handbook.ts';
import { ICON } from '../../../handbook/html/page.ts';
import {
  indexHtml,
  searchHtml,
  topicHtml,
  unknownTopicHtml,
} from '../../../handbook/html/pages.ts';
import { nearestTopics } from '../../../handbook/nearest-topics.ts';
import { HandbookIndex, MAX_QUERY_CHARS } from '../../../handbook/search/handbook-index.ts';
import { asPage, type Encoded, encoded, sendEncoded } from './responses.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;
const MAX_SHOWN_CHARS = 60;
const ICON_CACHING = 'public, max-age=86400';

/** The pages that do not depend on a query, each made when it is first read. */
export class HandbookPages {
  readonly #handbook: Handbook;
  readonly #made = new Map<string, Encoded>();
  #index: HandbookIndex | null = null;

  constructor(handbook: Handbook) {
    this.#handbook = handbook;
  }

  get front(): Encoded {
    return this.#make('', indexHtml);
  }

  get index(): HandbookIndex {
    this.#index ??= new HandbookIndex(this.#handbook);
    return this.#index;
  }

  /** Null if there is no such topic. */
  topic(name: string): Encoded | null {
    const page = pageOf(this.#handbook, name);
    return page === null ? null : this.#make(name, () => topicHtml(page));
  }

  #make(name: string, html: () => string): Encoded {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = encoded(html());
    this.#made.set(name, made);
    return made;
  }
}

/** The handbook. Its pages run no script. */
export function handbookRoutes(pages: HandbookPages): FastifyPluginAsync {
  return async (app) => {
    app.get('/docs', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, asPage(reply), pages.front),
    );

    app.get('/docs/icon.svg', { config: OPEN, schema: HIDDEN }, async (_request, reply) =>
      reply.header('cache-control', ICON_CACHING).type('image/svg+xml').send(ICON),
    );

    app.get<{ Querystring: { q?: string | string[] } }>(
      '/docs/search',
      { config: OPEN, schema: HIDDEN },
      async (request, reply) => {
        const [query = ''] = [request.query.q ?? ''].flat();
        const shown = query.trim().slice(0, MAX_QUERY_CHARS);
        return asPage(reply).send(searchHtml(shown, pages.index.search(query.trim())));
      },
    );

    app.get<{ Params: { '*': string } }>(
      '/docs/*',
      { config: OPEN, schema: HIDDEN },
      async (request, reply) => {
        const name = request.params['*'];
        const page = pages.topic(name);
        if (page !== null) return sendEncoded(request, asPage(reply), page);
        const bare = name.replace(/\/+$/, '');
        if (bare === '') return reply.redirect('/docs', 308);
        if (pages.topic(bare) !== null) return reply.redirect(`/docs/${bare}`, 308);
        const shown = bare.slice(0, MAX_SHOWN_CHARS);
        return asPage(reply)
          .code(404)
          .send(unknownTopicHtml(shown, nearestTopics(shown)));
      },
    );
  };
}
