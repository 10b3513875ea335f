import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { asPage, type Encoded, encoded, sendEncoded } from '../handbook/responses.ts';
import { apiPage, type OpenApiDocument } from './api-page.ts';
import { API_PAGE_SCRIPT } from './api-page-script.ts';
import { completeDocument, documentForReaders } from './complete-document.ts';
import { factsOf, type OperationFacts } from './describe-operation.ts';
import { exampleFinder } from './examples.ts';
import type { Json } from './named-schemas.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;

declare module 'fastify' {
  interface FastifyInstance {
    readonly documents: ApiDocuments;
  }
}

/**
 * The document for programs, and a page of it for people. They are made for the first request, which takes a
 * second: at each start it would be a quarter of the time until the service serves, and few starts need them.
 */
export class ApiDocuments {
  readonly #app: FastifyInstance;
  readonly #facts = new Map<string, OperationFacts>();
  #json: Encoded | null = null;
  #page: Encoded | null = null;

  /** Describes the routes that are added to the app from now on. */
  constructor(app: FastifyInstance) {
    this.#app = app;
    app.addHook('onRoute', (route) => {
      for (const [operation, facts] of factsOf(route)) this.#facts.set(operation, facts);
    });
  }

  get json(): Encoded {
    this.#make();
    return this.#json as Encoded;
  }

  get page(): Encoded {
    this.#make();
    return this.#page as Encoded;
  }

  #make(): void {
    if (this.#json !== null) return;
    const document = this.#app.swagger();
    const { publicUrl } = this.#app.lists;
    const parts = { facts: this.#facts, publicUrl };
    const complete: Json = completeDocument(document, parts);
    this.#json = encoded(JSON.stringify(complete));
    const shown = documentForReaders(document, parts) as unknown as OpenApiDocument;
    this.#page = encoded(apiPage(shown, { publicUrl, exampleOf: exampleFinder(complete) }));
  }
}

/** Where the documents are. */
export function openApiRoutes(documents: ApiDocuments): FastifyPluginAsync {
  return async (app) => {
    app.get('/openapi.json', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, reply.type('application/json; charset=utf-8'), documents.json),
    );

    app.get('/docs/api', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, asPage(reply, 'script'), documents.page),
    );

    const script = encoded(API_PAGE_SCRIPT);
    app.get('/docs/api.js', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, reply.type('text/javascript; charset=utf-8'), script),
    );
  };
}
