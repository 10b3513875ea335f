import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';
import { thingRoutes } from '../../../support/service/service-routes.ts';

let service: ServiceApp;

beforeAll(async () => {
  service = await startServiceApp([thingRoutes()]);
});

afterAll(() => service.close());

describe.each(['/openapi.json', '/docs'])('%s', (path) => {
  const get = async (headers: Readonly<Record<string, string>>): Promise<IncomingMessage> => {
    const sent = request({ host: '127.0.0.1', port: service.port, path, headers });
    sent.end();
    const [response] = await once(sent, 'response');
    return response;
  };

  it('is compressed for clients that accept gzip', async () => {
    const { text } = await service.ask(path, { key: null });
    const packed = await get({ 'accept-encoding': 'br, gzip' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    const bytes = await buffer(packed);
    expect(packed.headers['content-length']).toBe(String(bytes.length));
    expect(gunzipSync(bytes).toString()).toBe(text);
    const plain = await get({ 'accept-encoding': 'gzip;q=0' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.headers.vary).toBe('accept-encoding');
    expect((await buffer(plain)).toString()).toBe(text);
  });
});

describe('the documents', () => {
  it('are made and packed once, for whoever reads them', () => {
    const { documents } = service.app;
    const { json, page } = documents;
    documents.make();
    expect([documents.json === json, documents.page === page]).toEqual([true, true]);
  });
});

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 made of the schemas of the routes', async () => {
    const { status, json } = await service.ask('/openapi.json', { key: null });
    expect(status).toBe(200);
    expect(json.openapi).toMatch(/^3\.1\./);
    const list = json.paths['/v1/things'].get;
    expect(list.parameters).toEqual([
      expect.objectContaining({
        name: 'limit',
        in: 'query',
        schema: expect.objectContaining({ minimum: 1, maximum: 100, default: 10 }),
      }),
    ]);
    const body = json.paths['/v1/things'].post.requestBody.content['application/json'].schema;
    expect(body.properties.kind.enum).toEqual(['URL', 'TCP']);
    expect(body.required).toEqual(['name', 'kind']);
    expect(body.additionalProperties).toBe(false);
  });

  it('says for each route who may use it and what an error looks like', async () => {
    const { json } = await service.ask('/openapi.json');
    const create = json.paths['/v1/things'].post;
    expect(create.security).toEqual([{ apiKey: [] }]);
    expect(create.description).toContain('`write`');
    const { $ref } = create.responses.default.content['application/json'].schema;
    expect($ref).toBe('#/components/schemas/Error');
    expect(json.components.schemas.Error.required).toEqual([
      'statusCode',
      'error',
      'message',
      'attributes',
    ]);
    expect(json.paths['/health'].get.security).toBeUndefined();
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
      schema: { summary: 'List people', response: { 200: z.array(forms) } },
      handler: async () => [],
    });
    app.route({
      method: ['PUT', 'PATCH'],
      url: '/v1/people/:id',
      config,
      schema: { params: z.object({ id: z.string() }), body: forms, response: { 200: owner } },
      handler: async () => ({}) as never,
    });
  };

  it('have names of their own, and share the forms that come more than once', async () => {
    const { ask, close } = await startServiceApp([routes]);
    onTestFinished(close);
    const { paths, components } = (await ask('/openapi.json', { key: null })).json;
    const { put, patch } = paths['/v1/people/{id}'];
    expect([put.operationId, patch.operationId]).toEqual(['putPeopleById', 'patchPeopleById']);
    const list = paths['/v1/people'].get.responses['200'];
    expect(list.description).toBe('Done: List people.');
    const { items } = list.content['application/json'].schema;
    expect(items.$ref).toMatch(/^#\/components\/schemas\/People/);
    const name = items.$ref.split('/').at(-1);
    expect(Object.keys(components.schemas[name].properties)).toEqual(['name', 'age', 'city']);
    expect(put.responses).toEqual(patch.responses);
    const owner = put.responses['200'].content['application/json'].schema.$ref.split('/').at(-1);
    expect(components.schemas[owner].properties.person).toEqual(items);
  });
});

describe('/', () => {
  it('leads whoever opens it to the documentation', async () => {
    const { status, headers } = await service.ask('/', { key: null });
    expect([status, headers.location]).toEqual([302, '/docs']);
  });
});

describe('/docs', () => {
  it('shows the document without scripts and without anything from elsewhere', async () => {
    const { status, text, headers } = await service.ask('/docs', { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('POST /v1/things');
    expect(text).toContain('Lists &lt;things&gt;');
    expect(text).not.toMatch(/<script|<link|src=|https?:\/\//i);
  });

  it('has a style that its policy lets through, and nothing else', async () => {
    const { text, headers } = await service.ask('/docs', { key: null });
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });
});
