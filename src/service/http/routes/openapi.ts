import { createHash } from 'node:crypto';
import type { FastifyPluginAsync } from 'fastify';
import { DOCS_STYLE, docsPage, type OpenApiDocument } from '../docs-page.ts';
import { withComponents } from '../openapi-components.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;

/** The document for programs, and a page of it for people that runs no script and loads nothing. */
export function openApiRoutes(): FastifyPluginAsync {
  return async (app) => {
    const styleHash = createHash('sha256').update(DOCS_STYLE).digest('base64');
    let document: string | null = null;
    let page: string | null = null;

    app.get('/openapi.json', { config: OPEN, schema: HIDDEN }, async (_request, reply) => {
      document ??= JSON.stringify(withComponents({ ...app.swagger() }));
      return reply.type('application/json; charset=utf-8').send(document);
    });

    // Whoever opens the service in a browser is led to what it can do.
    app.get('/', { config: OPEN, schema: HIDDEN }, async (_request, reply) =>
      reply.redirect('/docs', 302),
    );

    app.get('/docs', { config: OPEN, schema: HIDDEN }, async (_request, reply) => {
      page ??= docsPage(app.swagger() as OpenApiDocument);
      return reply
        .header(
          'content-security-policy',
          `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
        )
        .type('text/html; charset=utf-8')
        .send(page);
    });
  };
}
