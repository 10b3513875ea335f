import { describe, expect, it } from 'vitest';
import { errorBody, invalid, MAX_FOUND_PROBLEMS } from '../../../src/service/errors.ts';
import { AllowedMethods } from '../../../src/service/http/allowed-methods.ts';

describe('an error', () => {
  it('always has all four fields', () => {
    expect(errorBody(402, 'More checks than the plan has')).toEqual({
      statusCode: 402,
      error: 'Payment Required',
      message: 'More checks than the plan has',
      attributes: {},
    });
  });

  it('of several problems names the first and how many more there are', () => {
    const problem = { path: 'body.name', message: 'is missing' };
    expect(invalid([problem]).message).toBe('body.name is missing');
    expect(invalid([problem, problem, problem]).message).toBe(
      'body.name is missing (and 2 more, see attributes.problems)',
    );
    const many = Array.from({ length: MAX_FOUND_PROBLEMS }, () => problem);
    expect(invalid(many).message).toBe(
      'body.name is missing (and at least 999 more, see attributes.problems)',
    );
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
