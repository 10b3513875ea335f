import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../support/eventually.ts';
import { KEYS, type ServiceApp, startServiceApp } from '../../../../support/service/service-app.ts';
import { thingRoutes } from '../../../../support/service/service-routes.ts';

let service: ServiceApp;
const doors = new EventEmitter();

beforeAll(async () => {
  service = await startServiceApp([thingRoutes(() => doors.emit('waiting'))]);
});

afterAll(() => service.close());

/** Exactly the errors of src/service/README.md, "The API". */
function errorForm(statusCode: number, error: string, message: unknown, attributes: unknown = {}) {
  return { statusCode, error, message, attributes };
}

const thing = (fields: object) => ({ method: 'POST', body: { name: 'a', kind: 'URL', ...fields } });

describe('an error', () => {
  it('has the form of the specification, whatever threw it', async () => {
    const reply = await service.ask('/v1/things/missing');
    expect(reply.status).toBe(404);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.json).toEqual(
      errorForm(404, 'Not Found', 'There is no such check', { resource: 'check' }),
    );
    expect((await service.ask('/v1/things/conflict')).json).toEqual(
      errorForm(409, 'Conflict', 'The slug is taken', { slug: 'shop' }),
    );
  });

  it('of an internal fault reveals nothing, and the log has everything with the request id', async () => {
    const reply = await service.ask('/v1/things/fault', { headers: { 'x-request-id': 'trace-1' } });
    expect(reply.json).toEqual(
      errorForm(500, 'Internal Server Error', expect.any(String), { requestId: 'trace-1' }),
    );
    expect(reply.text).not.toContain('hunter2');
    const logged = service.logs
      .records()
      .find(({ level, requestId }) => level === 'error' && requestId === 'trace-1');
    expect(JSON.stringify(logged)).toContain('hunter2');
    expect((await service.ask('/v1/things/text')).status).toBe(500);
  });

  it('after the client has gone is not logged as a fault', async () => {
    const waiting = once(doors, 'waiting');
    const socket = connect(service.port, '127.0.0.1');
    const headers = `Authorization: Bearer ${KEYS.read}\r\nX-Request-Id: gone-1`;
    const body = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    socket.write(`POST /v1/endless HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`);
    await waiting;
    socket.destroy();
    const about = () => service.logs.records().filter(({ requestId }) => requestId === 'gone-1');
    await eventually(() => about().length > 0);
    // A whole request later, whatever the first one led to has been logged.
    await service.ask('/v1/things');
    expect(about().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('of the store is described by what it means, without its words', async () => {
    const away = await service.ask('/v1/things/store-away');
    expect(away.status).toBe(503);
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    expect(away.text).not.toContain('10.1.2.3');
    expect((await service.ask('/v1/things/store-conflict')).status).toBe(409);
    expect((await service.ask('/v1/things/store-invalid')).status).toBe(400);
  });
});

describe('addresses and methods', () => {
  it('of nothing are 404, without the query in the message', async () => {
    const reply = await service.ask('/v1/nothing?token=secret', { key: null });
    expect(reply.json).toEqual(errorForm(404, 'Not Found', expect.stringContaining('/v1/nothing')));
    expect(reply.text).not.toContain('secret');
  });

  it('with other methods are 405 with the list of them', async () => {
    const reply = await service.ask('/v1/things/abc', { method: 'PATCH' });
    expect(reply.json).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' });
    expect(reply.headers.allow).toBe('DELETE, GET, HEAD, OPTIONS');
    expect((await service.ask('/v1/things', { method: 'PROPFIND' })).status).toBe(405);
    // Fastify refuses this method itself where it has no body.
    expect((await service.ask('/v1/things', { method: 'QUERY' })).status).toBe(405);
    expect((await service.ask('/v1/nothing', { method: 'QUERY' })).status).toBe(404);
  });

  it('OPTIONS lists them, and HEAD is GET without a body', async () => {
    const options = await service.ask('/v1/things', { method: 'OPTIONS', key: null });
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
    const head = await service.ask('/v1/things', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await service.ask('*', { method: 'OPTIONS' })).status).toBe(204);
  });

  it.each(['/v1/things/%', '/v1/things/%zz', '/v1/things/%E0%A4%A'])('%s is 400', async (path) => {
    const reply = await service.ask(path);
    expect(reply.json).toEqual(errorForm(400, 'Bad Request', expect.any(String)));
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  });

  it.each(['/../etc/passwd', '//v1/things', '/v1/things/..%2f..%2fetc', '/v1/things/a%00b'])(
    '%s is 400 or 404',
    async (path) => {
      const { status, json } = await service.ask(path);
      expect([400, 404]).toContain(status);
      expect(json).toMatchObject({ statusCode: status });
    },
  );

  it('a part of the path that is far too long is 414', async () => {
    expect((await service.ask(`/v1/things/${'a'.repeat(2000)}`)).json).toEqual(
      errorForm(414, 'URI Too Long', expect.any(String)),
    );
  });
});

describe('validation', () => {
  it('names the field, the value and what is allowed', async () => {
    const query = await service.ask('/v1/things?limit=101');
    expect(query.json).toEqual(
      errorForm(400, 'Bad Request', 'query.limit must be at most 100, not 101', {
        problems: [{ path: 'query.limit', message: 'must be at most 100, not 101' }],
      }),
    );
    const path = await service.ask('/v1/things/ABC');
    expect(path.json.message).toBe('path.id must be text that matches /^[a-z-]+$/, not "ABC"');
    const body = await service.ask('/v1/things', thing({ kind: 'UDP', request: { port: 70_000 } }));
    expect(body.json.attributes.problems).toEqual([
      { path: 'body.kind', message: 'must be one of URL, TCP, not "UDP"' },
      { path: 'body.request.port', message: 'must be at most 65535, not 70000' },
    ]);
  });

  it('names missing and unknown fields', async () => {
    const reply = await service.ask('/v1/things', {
      method: 'POST',
      body: { kind: 'URL', nam: 1 },
    });
    expect(reply.json.attributes.problems).toEqual([
      { path: 'body.name', message: 'is missing; it must be text' },
      { path: 'body.nam', message: 'is not a known field; did you mean name?' },
    ]);
    const empty = await service.ask('/v1/things', { method: 'POST' });
    expect(empty.json.message).toBe('body is missing; it must be an object');
  });

  it('names query parameters that the endpoint does not have, and the nearest that it has', async () => {
    const { json } = await service.ask('/v1/things?limit=5&colour=red&Limt=3');
    expect(json.message).toBe(
      'query.colour is not a known parameter; this endpoint has limit (and 1 more, see attributes.problems)',
    );
    expect(json.attributes.problems[1]).toEqual({
      path: 'query.Limt',
      message: 'is not a known parameter; did you mean limit?',
    });
    const none = await service.ask('/v1/things/missing?deep=true');
    expect(none.json.message).toBe('query.deep is not a known parameter; this endpoint has none');
  });

  it('repeats no text of a body, which may be a secret', async () => {
    const reply = await service.ask('/v1/things', thing({ password: 'hunter2' }));
    expect(reply.json.message).toBe(
      'body.password must be at least 8 characters long, not text of 7 characters',
    );
    expect(reply.text).not.toContain('hunter2');
  });

  it('stays short, however much is wrong', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`${n}${'<'.repeat(100)}`, 1]),
    );
    const reply = await service.ask('/v1/things', thing(unknown));
    expect(reply.status).toBe(400);
    expect(reply.text.length).toBeLessThan(10_000);
    expect(reply.json.attributes.problems).toHaveLength(20);
  });
});

describe('a body', () => {
  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    service.ask('/v1/things', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  it('that is valid is accepted', async () => {
    const reply = await service.ask('/v1/things', thing({ name: 'Ünï 🛰' }));
    expect([reply.status, reply.json]).toEqual([201, { name: 'Ünï 🛰', kind: 'URL', tags: [] }]);
    const same = await post('{"name":"a","kind":"URL"}', {
      'content-type': 'application/json; charset=UTF-8',
    });
    expect(same.status).toBe(201);
  });

  it.each([
    ['is cut short', '{"name":'],
    ['is no JSON', 'name=a'],
    ['has something behind it', '{"name":"a","kind":"URL"} x'],
    ['is no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['is nested 100,000 lists deep', '['.repeat(100_000)],
    ['is nested 65 objects deep', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['would change a prototype', '{"__proto__":{"admin":true}}'],
    ['would change a prototype by an escape', '{"\\u005f_proto__":{"admin":true}}'],
    ['would change one by another escape', '{"__pr\\u006Fto_\\u005F":{"admin":true}}'],
    ['would change that of a constructor', '[{"constructor" : {"prototype":{}}}]'],
    ['would do so by an escape', '{"a":{"construct\\u006fr":{"prototype":{}}}}'],
    ['would change a constructor', '{"a":{"constructor":{"prototype":{"admin":true}}}}'],
  ])('that %s is 400', async (_what, body) => {
    expect((await post(body)).json).toEqual(
      errorForm(400, 'Bad Request', expect.stringMatching(/^The body /), expect.any(Object)),
    );
  });

  it('with more values than any resource has is refused before it is parsed, with the limit', async () => {
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 1]));
    const unknown = { name: 'a', kind: 'URL', ...fields };
    expect((await post(JSON.stringify(unknown))).json).toEqual(
      errorForm(400, 'Bad Request', 'The body contains more than 20000 values', { limit: 20_000 }),
    );
  });

  it('with thousands of unknown fields is answered with the first of them', async () => {
    const fields = Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`k${n}`, 1]));
    const reply = await post(JSON.stringify({ name: 'a', kind: 'URL', ...fields }));
    const message = 'body.k0 is not a known field (and at least 999 more, see attributes.problems)';
    const problems = Array.from({ length: 20 }, (_, n) => ({
      path: `body.k${n}`,
      message: 'is not a known field',
    }));
    expect(reply.json).toEqual(errorForm(400, 'Bad Request', message, { problems }));
  });

  it('with brackets in its texts does not count as deeply nested', async () => {
    const name = '[{'.repeat(10);
    expect((await post(JSON.stringify({ name, kind: 'URL', tags: ['\\"[[['] }))).status).toBe(201);
  });

  it('that is too large is 413 with the limit, also without Content-Length', async () => {
    const limitBytes = 4 * 1024 * 1024;
    const body = 'x'.repeat(limitBytes + 1);
    expect((await post(body)).json).toEqual(
      errorForm(413, 'Payload Too Large', expect.any(String), { limitBytes }),
    );
    const chunked = await post(`${body}${body}${body}`, { 'transfer-encoding': 'chunked' });
    expect(chunked.status).toBe(413);
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense'])(
    'of the type %s is 415',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).json).toEqual(
        errorForm(415, 'Unsupported Media Type', expect.any(String), {
          allowed: ['application/json'],
        }),
      );
    },
  );

  it('that stops coming is no fault of ours', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write(
      `POST /v1/things HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${KEYS.admin}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"name":`,
    );
    await eventually(() => service.inFlight.size === 1);
    socket.destroy();
    await eventually(() => service.inFlight.size === 0);
    const { text } = await service.ask('/metrics');
    expect(text).toContain('requests_total{method="POST",route="/v1/things",status="aborted"} 1');
    const faults = service.logs.records().filter(({ level }) => level === 'error');
    expect(faults.filter(({ route }) => route === '/v1/things')).toEqual([]);
  });

  it('with an encoding is 415, not read as something else', async () => {
    expect((await post('{}', { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

describe('an answer', () => {
  it('has the request id of the request if that is valid, else a new one', async () => {
    const ask = async (id: string) =>
      (await service.ask('/v1/things', { headers: { 'x-request-id': id } })).headers[
        'x-request-id'
      ];
    expect(await ask('req-17:a/b=')).toBe('req-17:a/b=');
    for (const id of ['a b', '<script>', 'a'.repeat(129), '{"a":1}']) {
      expect(await ask(id)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('contains nothing that its schema does not declare', async () => {
    expect((await service.ask('/v1/leak')).json).toEqual({ shown: 'a' });
  });

  it('forbids caching, content sniffing and framing', async () => {
    for (const path of ['/v1/things', '/v1/nothing', '/v1/things/missing']) {
      expect((await service.ask(path)).headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
    }
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['garbage', '\x16\x03\x01\x02\x00\r\n\r\n', 400],
    ['an unknown method', 'BREW /pot HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
    ],
    ['endless headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s: an error in the same form, and the connection ends', async (_what, bytes, status) => {
    const answer = await service.raw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      statusCode: status,
      attributes: {},
    });
  });

  it('leave the service as it was', async () => {
    expect((await service.ask('/v1/things', { key: KEYS.read })).status).toBe(200);
  });
});
