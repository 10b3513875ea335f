import { describe, expect, it } from 'vitest';
import { errorBody, invalid } from '../../../src/service/errors.ts';
import { AllowedMethods } from '../../../src/service/http/allowed-methods.ts';
import { isDeeperThan } from '../../../src/service/http/json-shape.ts';

describe('an error', () => {
  it('always has all four fields', () => {
    expect(errorBody(402, 'More checks than the plan has')).toEqual({
      statusCode: 402,
      error: 'Payment Required',
      message: 'More checks than the plan has',
      attributes: {},
    });
  });

  it('of several problems tells the first and how many more there are', () => {
    const problem = { path: 'body.name', message: 'is missing' };
    expect(invalid([problem]).message).toBe('body.name is missing');
    expect(invalid([problem, problem, problem]).message).toBe(
      'body.name is missing (and 2 more, see attributes.problems)',
    );
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['1', 0],
    ['[]', 1],
    ['{"a":[1,{"b":2}],"c":{}}', 3],
    ['"[[[["', 0],
    ['["\\"[[[", "\\\\", []]', 2],
    ['[[],[],[[]]]', 3],
  ])('%s is %i', (json, depth) => {
    const bytes = Buffer.from(json);
    expect(isDeeperThan(bytes, depth)).toBe(false);
    expect(depth > 0 && isDeeperThan(bytes, depth - 1)).toBe(depth > 0);
  });
});

describe('the methods of a path', () => {
  const allowed = new AllowedMethods();
  allowed.add('/v1/checks/:id', ['GET', 'DELETE']);
  allowed.add('/v1/checks/url', 'POST');
  allowed.add('/v1/static-ipv6s.txt', 'GET');
  allowed.add('/files/*', 'PUT');

  it.each([
    ['/v1/checks/a', ['DELETE', 'GET', 'OPTIONS']],
    ['/v1/checks/url', ['DELETE', 'GET', 'OPTIONS', 'POST']],
    ['/v1/checks/a/b', []],
    ['/v1/checks/', []],
    ['/v1/static-ipv6sxtxt', []],
    ['/files/a/b', ['OPTIONS', 'PUT']],
  ])('%s', (path, methods) => {
    expect(allowed.at(path)).toEqual(methods);
  });
});
