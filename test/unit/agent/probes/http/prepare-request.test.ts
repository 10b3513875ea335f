import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { prepareRequest } from '../../../../../src/agent/probes/http/prepare-request.ts';
import { apiRequestSchema, urlRequestSchema } from '../../../../../src/model/check/request/http.ts';

type Given = z.input<typeof apiRequestSchema>;

function prepare(given: Partial<Given>) {
  return prepareRequest(apiRequestSchema.parse({ url: 'http://example.test/path', ...given }));
}

function header(prepared: { headers: readonly (readonly [string, string])[] }, name: string) {
  return prepared.headers.filter(([known]) => known.toLowerCase() === name).map(([, v]) => v);
}

const pair = (key: string, value: string) => ({ key, value, locked: false });

describe('the url', () => {
  test.each<[string, [string, string][], string]>([
    ['http://a.test', [], 'http://a.test/'],
    ['http://a.test/x#top', [], 'http://a.test/x'],
    ['http://a.test/x', [['q', 'a b&c=d+ü']], 'http://a.test/x?q=a%20b%26c%3Dd%2B%C3%BC'],
    ['http://a.test/?sig=a%2Fb+c%20d', [['n', '']], 'http://a.test/?sig=a%2Fb+c%20d&n='],
    ['http://a.test/?', [['n', '1']], 'http://a.test/?n=1'],
    [
      'http://a.test/?a=1&',
      [
        ['a', '2'],
        ['a', '3'],
      ],
      'http://a.test/?a=1&a=2&a=3',
    ],
    ['http://a.test/?a#f', [['b', '#?']], 'http://a.test/?a&b=%23%3F'],
    ['http://a.test/', [['x', '\ud800']], 'http://a.test/?x=%EF%BF%BD'],
  ])('%s with %j', (url, parameters, expected) => {
    const prepared = prepare({ url, queryParameters: parameters.map(([k, v]) => pair(k, v)) });
    expect(prepared.url.href).toBe(expected);
    expect(prepared.echo.url).toBe(expected);
  });

  test('parameters are echoed, repeated ones together', () => {
    const queryParameters = [pair('a', '1'), pair('__proto__', 'x'), pair('a', '2')];
    const { params } = prepare({ queryParameters }).echo;
    expect(Object.entries(params)).toEqual([
      ['a', '1, 2'],
      ['__proto__', 'x'],
    ]);
  });
});

describe('credentials', () => {
  const basic = (text: string) => [`Basic ${Buffer.from(text).toString('base64')}`];

  test.each<[string, Partial<Given>, string[]]>([
    ['none', {}, []],
    ['basicAuth', { basicAuth: { username: 'ü', password: 'p:w' } }, basic('ü:p:w')],
    ['an empty basicAuth', { basicAuth: { username: '', password: '' } }, []],
    ['userinfo', { url: 'http://us%40er:p%2Fw@a.test/' }, basic('us@er:p/w')],
    ['a user alone', { url: 'http://user@a.test/' }, basic('user:')],
    ['userinfo that is no escape', { url: 'http://100%:x@a.test/' }, basic('100%:x')],
    [
      'basicAuth over userinfo',
      { url: 'http://u:p@a.test/', basicAuth: { username: 'a', password: 'b' } },
      basic('a:b'),
    ],
    [
      'a header over both',
      {
        url: 'http://u:p@a.test/',
        basicAuth: { username: 'a', password: 'b' },
        headers: [pair('AUTHORIZATION', 'Bearer t0ken')],
      },
      ['Bearer t0ken'],
    ],
  ])('%s', (_name, given, expected) => {
    const prepared = prepare(given);
    expect(header(prepared, 'authorization')).toEqual(expected);
    expect(prepared.url.href).not.toContain('@');
    const told = JSON.stringify(prepared.echo);
    for (const value of expected) expect(told).not.toContain(value);
    expect(told).not.toContain('p%2Fw');
  });

  test('sensitive headers are masked in the echo, the others are not', () => {
    const headers = [
      pair('X-Api-Key', 'k1'),
      pair('Cookie', 'sid=c1'),
      pair('X-Trace', 't1'),
      pair('x-trace', 't2'),
    ];
    const { echo } = prepare({ headers });
    expect(echo.headers).toMatchObject({
      'X-Api-Key': '********',
      Cookie: '********',
      'X-Trace': 't1, t2',
    });
  });
});

describe('the body', () => {
  test.each<[Given['bodyType'], string, string | null, string | null]>([
    ['NONE', 'ignored', null, null],
    ['JSON', '{"a":1}', '{"a":1}', 'application/json'],
    ['JSON', '', null, 'application/json'],
    ['FORM', 'a=1&b=%20', 'a=1&b=%20', 'application/x-www-form-urlencoded'],
    ['RAW', 'ü', 'ü', null],
    ['GRAPHQL', '{ me { id } }', '{"query":"{ me { id } }"}', 'application/json'],
    [
      'GRAPHQL',
      '{"query":"{me}","variables":{}}',
      '{"query":"{me}","variables":{}}',
      'application/json',
    ],
    ['GRAPHQL', '{"mutation":"x"}', '{"query":"{\\"mutation\\":\\"x\\"}"}', 'application/json'],
    ['GRAPHQL', 'null', '{"query":"null"}', 'application/json'],
  ])('%s %j', (bodyType, body, sent, contentType) => {
    const prepared = prepare({ method: 'POST', bodyType, body });
    expect(prepared.body?.toString('utf8') ?? null).toBe(sent);
    expect(prepared.echo.data).toBe(sent ?? '');
    expect(header(prepared, 'content-type')).toEqual(contentType === null ? [] : [contentType]);
    expect(header(prepared, 'content-length')).toEqual([String(Buffer.byteLength(sent ?? ''))]);
  });

  test('a content type of the check takes precedence', () => {
    const headers = [pair('Content-Type', 'application/vnd.api+json')];
    const prepared = prepare({ method: 'POST', bodyType: 'JSON', body: '{}', headers });
    expect(header(prepared, 'content-type')).toEqual(['application/vnd.api+json']);
  });

  test('a GET without a body sends no length', () => {
    expect(header(prepare({}), 'content-length')).toEqual([]);
    const withBody = prepare({ bodyType: 'RAW', body: 'abc' });
    expect(header(withBody, 'content-length')).toEqual(['3']);
  });
});

describe('headers', () => {
  test('repeated headers are sent as given, in order', () => {
    const headers = [pair('X-A', ' 1 '), pair('x-a', '2'), pair('X-B', '')];
    const prepared = prepare({ headers });
    expect(prepared.headers.slice(0, 3)).toEqual([
      ['X-A', '1'],
      ['x-a', '2'],
      ['X-B', ''],
    ]);
    expect(prepared.notes).toEqual([]);
  });

  test.each([
    'Connection',
    'content-length',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'Keep-Alive',
  ])('the header %s of a check is left out, and the log says so', (name) => {
    const prepared = prepare({ method: 'POST', headers: [pair(name, '5')] });
    const sent = header(prepared, name.toLowerCase());
    expect(sent).toEqual(name === 'content-length' ? ['0'] : []);
    expect(prepared.notes).toEqual([expect.stringContaining(name)]);
  });

  test('only the first Host is sent', () => {
    const headers = [pair('X-A', '1'), pair('Host', 'one.test'), pair('HOST', 'two.test')];
    const prepared = prepare({ headers });
    expect(header(prepared, 'host')).toEqual(['one.test']);
    expect(prepared.notes).toHaveLength(1);
  });

  test('headers of the check replace the defaults', () => {
    const prepared = prepare({ headers: [pair('Accept-Encoding', 'identity')] });
    expect(header(prepared, 'accept-encoding')).toEqual(['identity']);
    expect(header(prepared, 'accept')).toEqual(['*/*']);
    expect(header(prepare({}), 'accept-encoding')[0]).toContain('gzip');
  });
});

test('a URL check is a plain GET', () => {
  const request = urlRequestSchema.parse({
    url: 'https://u:p@example.test/?a=1',
    skipSSL: true,
    followRedirects: false,
    ipFamily: 'IPv6',
  });
  const prepared = prepareRequest(request);
  expect(prepared).toMatchObject({
    method: 'GET',
    body: null,
    skipSSL: true,
    followRedirects: false,
    ipFamily: 'IPv6',
  });
  expect(prepared.echo).toMatchObject({ method: 'GET', data: '', params: {} });
  expect(prepared.url.href).toBe('https://example.test/?a=1');
  expect(header(prepared, 'authorization')).toHaveLength(1);
});

test('the echo of a large request is cut and says so', () => {
  const body = 'b'.repeat(500_000);
  const { echo, body: sent } = prepare({ method: 'POST', bodyType: 'RAW', body });
  expect(sent).toHaveLength(500_000);
  expect(echo.data.length).toBeLessThan(11_000);
  expect(echo.data).toContain('cut at 10240 bytes');
});
