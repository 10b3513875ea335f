import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { takesGzip } from '../json/gzip-answer.ts';
import { DOCS_STYLE, docsPage, type OpenApiDocument } from './docs-page.ts';
import { withComponents } from './openapi-components.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;

declare module 'fastify' {
  interface FastifyInstance {
    readonly documents: ApiDocuments;
  }
}

/** As it is sent: all who read it share these bytes, however slowly they do. */
interface Encoded {
  readonly plain: Buffer;
  readonly packed: Buffer;
}

/** The document for programs, and a page of it for people. Each is made once, which takes 0.1 to 0.3 s. */
export class ApiDocuments {
  readonly #app: FastifyInstance;
  #json: Encoded | null = null;
  #page: Encoded | null = null;

  /** Of the routes that the app has once it is ready. */
  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  get json(): Encoded {
    this.#json ??= encoded(JSON.stringify(withComponents({ ...this.#app.swagger() })));
    return this.#json;
  }

  get page(): Encoded {
    this.#page ??= encoded(docsPage(this.#app.swagger() as OpenApiDocument));
    return this.#page;
  }

  /** So that no request waits while they are made. */
  make(): void {
    void this.json;
    void this.page;
  }
}

function encoded(text: string): Encoded {
  return { plain: Buffer.from(text), packed: gzipSync(text) };
}

function send(request: FastifyRequest, reply: FastifyReply, { plain, packed }: Encoded) {
  reply.header('vary', 'accept-encoding');
  if (!takesGzip(request)) return reply.send(plain);
  return reply.header('content-encoding', 'gzip').send(packed);
}

/** Where the documents are. The page runs no script and loads nothing. */
export function openApiRoutes(documents: ApiDocuments): FastifyPluginAsync {
  return async (app) => {
    const styleHash = createHash('sha256').update(DOCS_STYLE).digest('base64');

    app.get('/openapi.json', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      send(request, reply.type('application/json; charset=utf-8'), documents.json),
    );

    // Whoever opens the service in a browser is led to what it can do.
    app.get('/', { config: OPEN, schema: HIDDEN }, async (_request, reply) =>
      reply.redirect('/docs', 302),
    );

    app.get('/docs', { config: OPEN, schema: HIDDEN }, async (request, reply) => {
      reply
        .header(
          'content-security-policy',
          `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
        )
        .type('text/html; charset=utf-8');
      return send(request, reply, documents.page);
    });
  };
}
