import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Script } from 'node:vm';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { readExamples } from '../../../../../src/service/http/openapi/examples.ts';
import { readTags } from '../../../../support/html-tags.ts';
import { emptyService } from '../../../../support/openapi/service-document.ts';
import { type ServiceApp, startServiceApp } from '../../../../support/service/service-app.ts';
import { thingRoutes } from '../../../../support/service/service-routes.ts';

let service: ServiceApp;

beforeAll(async () => {
  service = await startServiceApp([thingRoutes()]);
});

afterAll(() => service.close());

const SCHEMA_PATH = '/schemas/check-file.json';

describe.each(['/openapi.json', SCHEMA_PATH, '/docs', '/docs/alerts', '/docs/api'])(
  '%s',
  (path) => {
    const get = async (headers: Readonly<Record<string, string>>): Promise<IncomingMessage> => {
      const sent = request({ host: '127.0.0.1', port: service.port, path, headers });
      sent.end();
      const [response] = await once(sent, 'response');
      return response;
    };

    it.each([
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const)('is compressed for clients that accept %s', async (coding, unpack) => {
      const { text } = await service.ask(path, { key: null });
      const packed = await get({ 'accept-encoding': coding });
      expect(packed.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
      const bytes = await buffer(packed);
      expect(packed.headers['content-length']).toBe(String(bytes.length));
      expect(unpack(bytes).toString()).toBe(text);
      const plain = await get({ 'accept-encoding': 'gzip;q=0' });
      expect(plain.headers).not.toHaveProperty('content-encoding');
      expect(plain.headers.vary).toBe('accept-encoding');
      expect((await buffer(plain)).toString()).toBe(text);
    });

    it('is sent again only where it has changed', async () => {
      const { headers } = await service.ask(path, { key: null });
      expect(headers['cache-control']).toBe('no-cache');
      const { etag = '' } = headers;
      for (const known of [etag, `"other", W/${etag}`, '*']) {
        const again = await service.ask(path, { key: null, headers: { 'if-none-match': known } });
        expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
      }
      const packed = await get({ 'accept-encoding': 'gzip', 'if-none-match': etag });
      // Different content has a different tag.
      expect(packed.statusCode).toBe(200);
      expect(packed.headers.etag).not.toBe(etag);
      packed.resume();
    });

    it('has no body for HEAD', async () => {
      const { status, text, headers } = await service.ask(path, { key: null, method: 'HEAD' });
      expect([status, text]).toEqual([200, '']);
      expect(Number(headers['content-length'])).toBeGreaterThan(1000);
    });
  },
);

describe(SCHEMA_PATH, () => {
  it('is the JSON Schema of the check file, which the package has, too', async () => {
    const { status, json, headers } = await service.ask(SCHEMA_PATH, { key: null });
    expect([status, headers['content-type']]).toEqual([
      200,
      'application/schema+json; charset=utf-8',
    ]);
    const dist = join(import.meta.dirname, '../../../../../dist');
    const packed = readFileSync(join(dist, SCHEMA_PATH), 'utf8');
    expect(JSON.parse(packed)).toEqual(json);
    expect(json.properties).toHaveProperty('checks');
  });
});

describe('the documents', () => {
  it('are rendered and compressed once for all readers', async () => {
    const { documents } = service.app;
    const [json, page] = await Promise.all([documents.json(), documents.page()]);
    expect((await documents.json()) === json).toBe(true);
    expect((await documents.page()) === page).toBe(true);
  });
});

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 made of the schemas of the routes', async () => {
    const { status, json } = await service.ask('/openapi.json', { key: null });
    expect(status).toBe(200);
    expect(json.openapi).toMatch(/^3\.1\./);
    const list = json.paths['/v1/things'].get;
    expect(list.parameters[0]).toMatchObject({
      name: 'limit',
      in: 'query',
      schema: { minimum: 1, maximum: 100, default: 10 },
    });
    const { operationId, requestBody } = json.paths['/v1/things'].post;
    const { $ref } = requestBody.content['application/json'].schema;
    expect([operationId, $ref]).toEqual(['createThing', '#/components/schemas/ThingInput']);
    const body = json.components.schemas.ThingInput;
    expect(body.properties.kind.enum).toEqual(['URL', 'TCP']);
    expect(body.required).toEqual(['name', 'kind']);
    expect(body.additionalProperties).toBe(false);
  });

  it('says for each route who may use it, and describes its errors', async () => {
    const { json } = await service.ask('/openapi.json');
    const create = json.paths['/v1/things'].post;
    expect(create.security).toEqual([{ apiKey: [] }, { session: [] }]);
    expect(create.description).toContain('`write`');
    const { $ref } = create.responses.default.content['application/json'].schema;
    expect($ref).toBe('#/components/schemas/Error');
    expect(json.components.schemas.Error.required).toEqual([
      'statusCode',
      'error',
      'message',
      'attributes',
    ]);
    expect(json.paths['/health'].get.security).toEqual([]);
    expect(Object.keys(json.paths)).not.toContain('/docs');
  });
});

describe('the operations of /openapi.json', () => {
  const forms = z.object({ name: z.string(), age: z.number(), city: z.string() });
  const routes: FastifyPluginAsync = async (plugin) => {
    const app = plugin.withTypeProvider<ZodTypeProvider>();
    const config = { public: true } as const;
    const owner = z.object({ id: z.string(), since: z.string(), person: forms });
    app.get('/v1/people', {
      config,
      schema: {
        operationId: 'listPeople',
        summary: 'List people',
        response: { 200: z.array(forms) },
      },
      handler: async () => [],
    });
    app.route({
      method: ['PUT', 'PATCH'],
      url: '/v1/people/:id',
      config,
      schema: {
        operationId: 'updatePerson',
        params: z.object({ id: z.string() }),
        body: forms,
        response: { 200: owner },
      },
      handler: async () => ({}) as never,
    });
  };

  it('have the names that their routes declare, and share schemas that occur more than once', async () => {
    const { ask, close } = await startServiceApp([routes]);
    onTestFinished(close);
    const { paths, components } = (await ask('/openapi.json', { key: null })).json;
    const { put, patch } = paths['/v1/people/{id}'];
    expect([put.operationId, patch.operationId]).toEqual(['putPerson', 'updatePerson']);
    const list = paths['/v1/people'].get.responses['200'];
    expect(list.description).toBe('People.');
    const { items } = list.content['application/json'].schema;
    expect(items.$ref).toMatch(/^#\/components\/schemas\/People/);
    const name = items.$ref.split('/').at(-1);
    expect(Object.keys(components.schemas[name].properties)).toEqual(['name', 'age', 'city']);
    expect(put.responses).toEqual(patch.responses);
    const owner = put.responses['200'].content['application/json'].schema.$ref.split('/').at(-1);
    expect(components.schemas[owner].properties.person).toEqual(items);
  });
});

describe('the pages of /docs', () => {
  const PAGES = ['/docs', '/docs/alerts', '/docs/api', '/docs/search?q=alert', '/docs/none'];

  it.each(PAGES)('%s runs no script but that of the API page, and loads its icon', async (path) => {
    const isOfApi = path === '/docs/api';
    const { text, headers } = await service.ask(path, { key: null });
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const script = '<script src="/docs/api.js" defer></script>';
    expect(text.includes(script)).toBe(isOfApi);
    expect(text.replace(script, '')).not.toMatch(/<script|<img|src=|\son\w+=/i);
    expect(text.match(/<link[^>]*>/g)).toEqual(['<link rel="icon" href="/docs/icon.svg">']);
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'${isOfApi ? "; script-src 'self'; connect-src 'self'" : ''}`,
    );
  });

  it.each(PAGES)('%s leads to the topics, to the API and to the search', async (path) => {
    const { text } = await service.ask(path, { key: null });
    expect(text).toContain('href="/docs/start"');
    expect(text).toContain('href="/docs/api"');
    expect(text).toContain(
      '<form class="search" role="search" action="/docs/search" method="get">',
    );
  });
});

describe('/docs/api', () => {
  it('shows every operation of the document, with its texts escaped', async () => {
    const { status, text } = await service.ask('/docs/api', { key: null });
    expect(status).toBe(200);
    expect(text).toContain('<code class="method post">POST</code> <code>/v1/things</code>');
    expect(text).toContain('<div id="post-v1-things">');
    expect(text).toContain('Lists &lt;things&gt;');
    expect(text).toContain('Needs the role <code>write</code>.');
    expect(text).toContain('<section id="things"><h2>Things</h2>');
    readTags(text);
  });
});

describe('the page of the whole API', () => {
  it('has the example of a schema once, escaped, below its first body or response', async () => {
    const app = await emptyService({ pages: [] });
    onTestFinished(() => app.close());
    const { body } = await app.inject({ url: '/docs/api' });
    const shown = [
      ...body.matchAll(
        /<details><summary>Example<\/summary><pre class="example" tabindex="0">([^<]*)<\/pre><\/details>/g,
      ),
    ];
    const examples = shown.map(([, text = '']) => text.replaceAll('&quot;', '"'));
    expect(examples.length).toBeGreaterThan(40);
    expect(new Set(examples).size).toBe(examples.length);
    const { UrlCheckInput } = readExamples();
    expect(examples).toContain(JSON.stringify(UrlCheckInput, null, 2));
    // Headers and errors that routes do not declare themselves.
    const events = /<div id="get-v1-events">(.*?)<\/details>\n/s.exec(body)?.[1] ?? '';
    expect(events).toContain('<code>Last-Event-ID</code>');
    expect(events).toContain('<code>text/event-stream</code>');
    expect(events).toContain('<li>410: The events after the cursor are deleted');
    const update = /<div id="patch-v1-checks-url-id">(.*?)<\/details>\n/s.exec(body)?.[1] ?? '';
    for (const name of ['If-Match', 'ETag', 'x-service-account']) {
      expect(update).toContain(`<code>${name}</code>`);
    }
    expect(update).toMatch(/<li>412: The resource is not the one that <code>If-Match<\/code>/);
    expect(body).not.toContain('#/components/');
    // These hardly lengthen the page.
    expect(shown.map(([html]) => html).join('').length).toBeLessThan(body.length / 10);
    readTags(body);
  });
});

describe('an operation on the page of the API', () => {
  it('has its own anchor, and the command that sends it', async () => {
    const { text } = await service.ask('/docs/api', { key: null });
    expect(text).toContain('<a href="#post-v1-things">Link to this operation</a>');
    expect(text).toContain(
      '<pre class="curl" tabindex="0">curl -X POST &quot;$SERVICE_URL/v1/things&quot; \\\n  -H &quot;Authorization: Bearer $API_KEY&quot; \\\n  -H &#39;Content-Type: application/json&#39; \\\n  -d &#39;{&quot;name&quot;:&quot;example&quot;,&quot;kind&quot;:&quot;URL&quot;}&#39;</pre>',
    );
    expect(text).toContain(
      '<pre class="curl" tabindex="0">curl &quot;$SERVICE_URL/health&quot;</pre>',
    );
  });
});

describe('/docs/api.js', () => {
  it('is a script that stores nothing and turns no text into HTML', async () => {
    const { status, text, headers } = await service.ask('/docs/api.js', { key: null });
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(() => new Script(text)).not.toThrow();
    expect(text).not.toMatch(
      /localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|eval/,
    );
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).toContain("credentials: 'omit'");
  });
});

describe('a topic of the handbook', () => {
  it('has its own page, with an anchor for each name that it defines', async () => {
    const { status, text } = await service.ask('/docs/operations', { key: null });
    expect(status).toBe(200);
    expect(text).toContain('<tr id="RETENTION_DAYS">');
    expect(text).toContain('aria-current="page" href="/docs/operations"');
  });

  it.each([
    ['/docs/', '/docs'],
    ['/docs/alerts/', '/docs/alerts'],
    ['/docs//', '/docs'],
  ])('is also found at %s', async (path, location) => {
    const { status, headers } = await service.ask(path, { key: null });
    expect([status, headers.location]).toEqual([308, location]);
  });

  it.each([
    ['/docs/alrts', 'href="/docs/alerts"'],
    ['/docs/error%20codes', 'href="/docs/error-codes"'],
    ['/docs/alerts/email', 'href="/docs/alerts"'],
    ['/docs/%3Cscript%3E', '&lt;script&gt;'],
    [`/docs/${'x'.repeat(900)}`, 'x'.repeat(60)],
  ])('that does not exist is 404 with what is near: %s', async (path, shown) => {
    const { status, text, headers } = await service.ask(path, { key: null });
    expect([status, headers.etag]).toEqual([404, undefined]);
    expect(text).toContain(shown);
    expect(text).toContain('id="search-again"');
    readTags(text);
  });
});

describe('/docs/icon.svg', () => {
  it('is a picture that browsers may cache', async () => {
    const { status, text, headers } = await service.ask('/docs/icon.svg', { key: null });
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(headers['cache-control']).toBe('public, max-age=86400');
    readTags(text);
  });
});

describe('/docs/search', () => {
  it('leads to sections, with the words marked', async () => {
    const { status, text, headers } = await service.ask('/docs/search?q=retention+days', {
      key: null,
    });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(text).toMatch(/<a href="\/docs\/operations#[\w-]+">/);
    expect(text).toContain('<mark>RETENTION_DAYS</mark>');
    expect(text).toContain('value="retention days"');
  });

  it.each([
    ['', 'Enter one or more words'],
    ['?q=', 'Enter one or more words'],
    ['?q=qqqqqqqq', 'Nothing in the handbook matches'],
    ['?q=retntion', 'Did you mean'],
    ['?q=alerts&q=other', 'value="alerts"'],
    ['?q=%22%3E%3Cscript%3E', 'value="&quot;&gt;&lt;script&gt;"'],
    [`?q=port+${'x'.repeat(5000)}`, 'The query was too long'],
    ['?other=1', 'Enter one or more words'],
  ])('answers %s with a page', async (query, shown) => {
    const { status, text } = await service.ask(`/docs/search${query}`, { key: null });
    expect(status).toBe(200);
    expect(text).toContain(shown);
    expect(text.length).toBeLessThan(40_000);
    readTags(text);
  });
});
