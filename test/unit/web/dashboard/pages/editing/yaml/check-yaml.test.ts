import { describe, expect, it } from 'vitest';
import { checkBodySchema } from '../../../../../../../src/model/check/check.ts';
import { checkFileOf } from '../../../../../../../src/service/checks/check-file.ts';
import type { Draft } from '../../../../../../../src/web/dashboard/pages/editing/draft.ts';
import {
  checkIn,
  type ReadCheck,
  type YamlProblem,
  yamlOf,
} from '../../../../../../../src/web/dashboard/pages/editing/yaml/check-yaml.ts';

const LOCATIONS = { privateLocations: ['office'] };
const CHECKS: readonly Draft[] = [
  {
    checkType: 'API',
    name: 'Orders',
    tags: ['shop'],
    frequency: 5,
    maxResponseTime: 1_000,
    degradedResponseTime: 400,
    request: {
      url: 'https://orders.example.com/?a=1#b',
      method: 'POST',
      headers: [{ key: 'authorization', value: '********' }],
      bodyType: 'JSON',
      body: '{\n  "a": "{{NAME}}"\n}\n',
      basicAuth: { username: 'probe', password: '********' },
      assertions: [{ source: 'JSON_BODY', property: '$.a', comparison: 'EQUALS', target: '1' }],
    },
    retryStrategy: { type: 'EXPONENTIAL', baseBackoffSeconds: 2, maxRetries: 2 },
    variables: [{ key: 'NAME', value: 'no', secret: false }],
    ...LOCATIONS,
  },
  { checkType: 'URL', name: 'Home', request: { url: 'https://example.com/' }, ...LOCATIONS },
  {
    checkType: 'TCP',
    name: 'Database',
    frequency: 0,
    frequencyOffset: 10,
    request: { hostname: 'db.internal', port: 5_432 },
    ...LOCATIONS,
  },
  {
    checkType: 'DNS',
    name: 'yes',
    request: { query: 'example.com', port: 53, recordType: 'MX' },
    retryStrategy: null,
    ...LOCATIONS,
  },
  {
    checkType: 'ICMP',
    name: '10',
    degradedPacketLossThreshold: 5,
    maxPacketLossThreshold: 5,
    request: { hostname: '10.0.0.1' },
    ...LOCATIONS,
  },
];

function read(text: string): ReadCheck {
  const found = checkIn(text);
  if (!('draft' in found)) throw new Error(JSON.stringify(found));
  return found;
}

function problems(text: string): readonly YamlProblem[] {
  const found = checkIn(text);
  if ('draft' in found) throw new Error('it is a check');
  return found;
}

const withoutComments = (text: string): string => text.replaceAll(/ # hidden.*/g, '');

describe('the YAML of a check', () => {
  it.each(CHECKS)('is the check file that the service makes ($checkType)', (given) => {
    const whole = checkBodySchema.parse(given) as Draft;
    const ofService = checkFileOf({ id: 'check-1', ...whole });
    const text = yamlOf(whole, 'check-1', whole.checkType as 'URL');
    expect(withoutComments(text)).toBe(withoutComments(ofService));
  });

  it.each(CHECKS)('means the check that it was made of ($checkType)', (given) => {
    const whole = checkBodySchema.parse(given);
    const { draft, id, hasComments } = read(yamlOf(whole, 'check-1', whole.checkType));
    expect(checkBodySchema.parse(draft)).toEqual(whole);
    expect([id, hasComments]).toEqual(['check-1', false]);
  });

  it('keeps a threshold that would be another without it', () => {
    const draft = { checkType: 'URL', degradedResponseTime: 3_000, maxResponseTime: 2_000 };
    expect(read(yamlOf(draft, '', 'URL')).draft).toEqual(draft);
  });

  it('marks what the API hides', () => {
    const variables = [{ key: 'TOKEN', value: null, secret: true }];
    expect(yamlOf({ checkType: 'URL', variables }, '', 'URL')).toMatch(/value: null # hidden:/);
  });

  it('knows the comments of people', () => {
    expect(read('checks:\n  - name: a # mine\n').hasComments).toBe(true);
    expect(read('# mine\n\nchecks:\n  - name: a\n').hasComments).toBe(true);
  });

  it('names the line of what is wrong with a text', () => {
    expect(problems('checks:\n  - name: a\n  request: [\n')[0]).toMatchObject({ line: 3 });
    expect(problems('name: a\n')).toEqual([
      { line: 1, message: 'must have `checks:` with one check below' },
    ]);
    expect(problems('')).toEqual([
      { line: null, message: 'must have `checks:` with one check below' },
    ]);
    expect(problems('checks:\n  - name: a\n  - name: b\n')).toEqual([
      { line: 2, message: 'must have one check, not 2' },
    ]);
    expect(problems('checks:\n  - name: a\ngroups:\n  - id: g\n')).toEqual([
      { line: 4, message: 'groups is not part of a check: take it out' },
    ]);
    expect(problems('checks:\n  - text\n')).toEqual([
      { line: 2, message: 'must be a check, with its fields' },
    ]);
  });

  it('says where in the text a problem of the API is, or what is around it', () => {
    const text =
      'checks:\n  - name: a\n    request:\n      url: x\n      headers:\n        - key: b\n';
    expect(
      read(text).lined([
        { path: 'body.request.url', message: 'must be a URL' },
        { path: 'body.request.headers[0].key', message: 'must be a name' },
        { path: 'body.request.method', message: 'is missing' },
        { path: 'body.locations', message: 'is empty' },
      ]),
    ).toEqual([
      { line: 4, message: 'request.url must be a URL' },
      { line: 6, message: 'request.headers[0].key must be a name' },
      { line: 4, message: 'request.method is missing' },
      { line: 2, message: 'locations is empty' },
    ]);
  });

  it('refuses texts that would take long', () => {
    const bomb = `a: &a [${'x,'.repeat(50)}]\n`;
    const nested = [...'bcdefgh'].map(
      (name, at) => `${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(50)}]\n`,
    );
    expect(problems(bomb + nested.join(''))[0]?.message).toMatch(/alias/i);
    expect(problems(' '.repeat(1_200_001))).toEqual([
      { line: null, message: 'is too long for a check' },
    ]);
  });
});
