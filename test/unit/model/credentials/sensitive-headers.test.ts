import { describe, expect, test } from 'vitest';
import {
  isSensitiveHeader,
  maskHeaders,
} from '../../../../src/model/credentials/sensitive-headers.ts';

describe('sensitive headers include', () => {
  test.each([
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'SET-COOKIE',
    'X-API-Key',
    'x_api_key',
    'apikey',
    'X-ApiKey',
    'Api-Token',
    'X-Auth-Token',
    'X-Auth',
    'X-CSRF-Token',
    'Private-Token',
    'X-Client-Secret',
    'X-Session-Id',
    'Subscription-Key',
    'X-Shared-Access-Key-Name',
    'X-XApiKey',
    'Password',
    'AccessToken',
    'X-ClientSecret',
    'X-Authentication',
  ])('%s', (name) => {
    expect(isSensitiveHeader(name)).toBe(true);
  });
});

describe('sensitive headers do not include', () => {
  test.each([
    'Content-Type',
    'WWW-Authenticate',
    'Sec-WebSocket-Key',
    'Idempotency-Key',
    'Surrogate-Key',
    'RateLimit-Tokens',
    'X-Request-Id',
    'X-Author',
    'Keyboard',
    'Etag',
    '',
  ])('%s', (name) => {
    expect(isSensitiveHeader(name)).toBe(false);
  });
});

test('masks only values of sensitive headers, each of several values separately', () => {
  const headers = { 'set-cookie': ['a=1', 'b=2'], etag: 'x', 'x-api-key': 'k', vary: ['a', 'b'] };
  expect(maskHeaders(headers)).toEqual({
    'set-cookie': ['********', '********'],
    etag: 'x',
    'x-api-key': '********',
    vary: ['a', 'b'],
  });
});

test('keeps a header named __proto__', () => {
  const headers = JSON.parse('{"__proto__":"x"}');
  expect(Object.keys(maskHeaders(headers))).toEqual(['__proto__']);
});
