import { describe, expect, it } from 'vitest';
import { parseProxy, withoutCredentials } from '../../../../../src/runtime/net/proxy/proxy-url.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('parseProxy', () => {
  it.each([
    ['http://proxy.test:3128', 'http://proxy.test:3128', null],
    ['http://proxy.test', 'http://proxy.test:80', null],
    ['HTTPS://Proxy.Test/', 'https://proxy.test:443', null],
    ['proxy.test:3128', 'http://proxy.test:3128', null],
    ['192.0.2.1:3128', 'http://192.0.2.1:3128', null],
    ['http://[2001:db8::1]:3128', 'http://[2001:db8::1]:3128', null],
    ['http://ann:secret@proxy.test:3128', 'http://proxy.test:3128', basic('ann:secret')],
    ['ann:secret@proxy.test:3128', 'http://proxy.test:3128', basic('ann:secret')],
    ['http://ann@proxy.test', 'http://proxy.test:80', basic('ann:')],
    ['http://a%40b:p%3A%2F%20%C3%A9@proxy.test', 'http://proxy.test:80', basic('a@b:p:/ é')],
    ['http://ann:100%@proxy.test', 'http://proxy.test:80', basic('ann:100%')],
  ])('%s', (text, shown, authorization) => {
    expect(parseProxy(text)).toMatchObject({ shown, authorization });
  });

  it.each([
    '',
    'http://',
    'http:///x',
    'socks5://proxy.test:1080',
    'ftp://proxy.test',
    'http://proxy.test:99999',
    'http://proxy.test:0',
    'http://proxy.test:3128/path',
    'http://ann:12/34@proxy.test:3128',
    'http://ann:1#2@proxy.test:3128',
    'http://ann:1?2@proxy.test:3128',
    'http://proxy one.test',
    'http://one.test:3128,http://two.test:3128',
  ])('is none: %s', (text) => {
    expect(parseProxy(text)).toBeNull();
  });
});

it.each([
  ['http://ann:sec@ret@proxy.test:x', 'http://********@proxy.test:x'],
  ['ann:sec/ret@proxy.test:x', '********@proxy.test:x'],
  ['socks5://ann:secret@proxy.test', 'socks5://********@proxy.test'],
  ['http://proxy.test:x', 'http://proxy.test:x'],
])('shows %s without its credentials', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});

it('returns its secrets', () => {
  const secrets = (text: string) => parseProxy(text)?.secrets;
  const encoded = Buffer.from('ann:p@ss').toString('base64');
  expect(secrets('http://ann:p%40ss@proxy.test')).toEqual(['p@ss', encoded]);
  // Without a password, the user name is a token.
  for (const alone of ['http://tok%20en@proxy.test', 'http://tok%20en:@proxy.test']) {
    expect(secrets(alone)).toEqual(['tok en', Buffer.from('tok en:').toString('base64')]);
  }
  expect(secrets('http://proxy.test')).toEqual([]);
});
