import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import {
  asPage,
  type Encoded,
  encoded,
  encodedByThreads,
  sendEncoded,
} from '../handbook/responses.ts';
import { apiPage, type OpenApiDocument } from './api-page.ts';
import { API_PAGE_SCRIPT } from './api-page-script.ts';
import { completeDocument, documentForReaders } from './complete-document.ts';
import { factsOf, type OperationFacts } from './describe-operation.ts';
import { exampleFinder } from './examples.ts';
import { asObject, type Json } from './named-schemas.ts';
import { describeRoutes, isDescribed } from './plugin.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;

declare module 'fastify' {
  interface FastifyInstance {
    readonly documents: ApiDocuments;
  }
}

/** How many routes are converted at once: each takes some milliseconds. */
const ROUTES_AT_ONCE = 4;

interface Made {
  readonly json: Encoded;
  readonly page: Encoded;
}

/**
 * The OpenAPI document for programs, and a page with it for people. Both are created for the first request, because
 * few processes need them. This takes a second of CPU time, mostly for converting schemas, so it is done in slices:
 * other requests are answered in between.
 */
export class ApiDocuments {
  readonly #version: string;
  readonly #publicUrl: string | null;
  readonly #routes: RouteOptions[] = [];
  readonly #facts = new Map<string, OperationFacts>();
  #made: Promise<Made> | null = null;

  /** Describes the routes that are added to the app from now on. */
  constructor(app: FastifyInstance, version: string) {
    this.#version = version;
    this.#publicUrl = app.lists.publicUrl;
    app.addHook('onRoute', (route) => {
      for (const [operation, facts] of factsOf(route)) this.#facts.set(operation, facts);
      if (isDescribed(route)) this.#routes.push(route);
    });
  }

  async json(): Promise<Encoded> {
    return (await this.#once()).json;
  }

  async page(): Promise<Encoded> {
    return (await this.#once()).page;
  }

  /** Creates the documents once; concurrent requests share the result. */
  #once(): Promise<Made> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = null;
      throw error;
    });
    return this.#made;
  }

  async #make(): Promise<Made> {
    const publicUrl = this.#publicUrl;
    const parts = { facts: this.#facts, publicUrl };
    const document = await this.#describe();
    const complete = await completeDocument(document, parts);
    const json = await encodedByThreads(JSON.stringify(complete));
    const shown = (await documentForReaders(document, parts)) as unknown as OpenApiDocument;
    const exampleOf = exampleFinder(complete);
    const page = await encodedByThreads(await apiPage(shown, { publicUrl, exampleOf }));
    return { json, page };
  }

  /** All routes as one document. */
  async #describe(): Promise<Json> {
    let whole: Json = {};
    const paths: { [path: string]: Json } = {};
    for (let first = 0; first < this.#routes.length; first += ROUTES_AT_ONCE) {
      const routes = this.#routes.slice(first, first + ROUTES_AT_ONCE);
      whole = (await describeRoutes(routes, this.#version)) as Json;
      for (const [path, operations] of Object.entries(asObject(whole.paths))) {
        paths[path] = { ...paths[path], ...asObject(operations) };
      }
      await yieldToEventLoop();
    }
    return { ...whole, paths };
  }
}

/** The routes of the documents. */
export function openApiRoutes(documents: ApiDocuments): FastifyPluginAsync {
  return async (app) => {
    app.get('/openapi.json', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, reply.type('application/json; charset=utf-8'), await documents.json()),
    );

    app.get('/docs/api', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, asPage(reply, 'script'), await documents.page()),
    );

    const script = encoded(API_PAGE_SCRIPT);
    app.get('/docs/api.js', { config: OPEN, schema: HIDDEN }, async (request, reply) =>
      sendEncoded(request, reply.type('text/javascript; charset=utf-8'), script),
    );
  };
}
