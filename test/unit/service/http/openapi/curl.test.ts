import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlText, smallestOf } from '../../../../../src/service/http/openapi/curl.ts';
import type { JsonSchema } from '../../../../../src/service/http/openapi/schema-outline.ts';

describe('the smallest value of a schema', () => {
  it.each<readonly [string, JsonSchema, unknown]>([
    ['a constant', { const: 'URL' }, 'URL'],
    ['the first of several', { enum: ['a', 'b'] }, 'a'],
    ['its default', { type: 'integer', default: 10 }, 10],
    ['its lower bound', { type: 'integer', minimum: 5 }, 5],
    ['one of its format', { type: 'string', format: 'email' }, 'ops@example.org'],
    ['one of its pattern', { type: 'string', pattern: '^[A-Z]+$' }, 'EXAMPLE'],
    ['long enough', { type: 'string', minLength: 9 }, 'examplexx'],
    ['the first that is not null', { anyOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
    ['empty if that is allowed', { type: 'array', items: { type: 'string' } }, []],
    ['one item', { type: 'array', minItems: 1, items: { type: 'boolean' } }, [true]],
    [
      'a check in a private location, where agents run it',
      {
        type: 'object',
        properties: {
          request: { const: {} },
          locations: { type: 'array' },
          privateLocations: { type: 'array' },
        },
        required: ['request'],
      },
      { request: {}, privateLocations: ['office'] },
    ],
    [
      'an object with the required fields alone',
      { type: 'object', properties: { a: { const: 1 }, b: { const: 2 } }, required: ['b'] },
      { b: 2 },
    ],
  ])('is %s', (_what, schema, value) => {
    expect(smallestOf(schema)).toEqual(value);
  });
});

describe('the command of an operation', () => {
  it('of a stream of events asks for them, and does not buffer them', () => {
    const request = { method: 'get', path: '/v1/events', parameters: [], body: null };
    expect(curlText({ ...request, needsKey: false, streams: true }, 'https://s')).toBe(
      `curl -N "https://s/v1/events" \\\n  -H 'Accept: text/event-stream'`,
    );
  });

  it('is read by a shell as it is meant, with quotes in its body', () => {
    const request = {
      method: 'put',
      path: '/v1/checks/{checkId}/runs/{id}',
      parameters: [
        { name: 'metrics', in: 'query', required: true, schema: { enum: ['a&b'] } },
        { name: 'page', in: 'query' },
      ],
      body: { name: `it's "$HOME"` },
      needsKey: true,
    };
    const text = curlText(request, null);
    const script = `curl() { printf '%s\\n' "$@"; }\n${text}`;
    const env = { SERVICE_URL: 'http://s', API_KEY: 'vk_1', CHECK_ID: 'c', ID: '7' };
    expect(execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\n')).toEqual([
      '-X',
      'PUT',
      'http://s/v1/checks/c/runs/7?metrics=a%26b',
      '-H',
      'Authorization: Bearer vk_1',
      '-H',
      'Content-Type: application/json',
      '-d',
      `{"name":"it's \\"$HOME\\""}`,
      '',
    ]);
    expect(curlText({ ...request, method: 'get', body: null, needsKey: false }, 'https://s')).toBe(
      'curl "https://s/v1/checks/$CHECK_ID/runs/$ID?metrics=a%26b"',
    );
  });
});
