import { expect, test } from 'vitest';
import { requestHead } from '../../../../../../src/agent/probes/http/http1/request-head.ts';

const url = new URL('http://target.example:8080/a%20b?c=d');
const request = { method: 'GET', url, headers: [], body: null };

test('a request head has its host and closes the connection', () => {
  const headers = [
    ['accept', '*/*'],
    ['x-latin', 'é'],
  ] as const;
  expect(requestHead({ ...request, headers })).toBe(
    'GET /a%20b?c=d HTTP/1.1\r\nhost: target.example:8080\r\nconnection: close\r\naccept: */*\r\nx-latin: é\r\n\r\n',
  );
});

test('a request head has the Host of the check and the request target for a proxy', () => {
  const headers = [['Host', 'other.example']] as const;
  expect(requestHead({ ...request, headers, requestTarget: url.href })).toBe(
    `GET ${url.href} HTTP/1.1\r\nhost: other.example\r\nconnection: close\r\n\r\n`,
  );
});

test.each([
  { headers: [['x', 'a\r\nb: c']] },
  { headers: [['x', 'a\0']] },
  { headers: [['x', 'š']] },
  { headers: [['x y', 'a']] },
  { headers: [['', 'a']] },
  { method: 'GET /' },
  { requestTarget: '/a b' },
] as const)('what would change its meaning is not sent: %j', (parts) => {
  expect(requestHead({ ...request, ...parts })).toBeNull();
});
