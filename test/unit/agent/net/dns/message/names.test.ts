import { describe, expect, it } from 'vitest';
import {
  absoluteName,
  displayName,
  sameName,
} from '../../../../../../src/agent/net/dns/message/names.ts';

describe('absoluteName', () => {
  it.each([
    ['example.com', 'example.com.'],
    ['example.com.', 'example.com.'],
    ['.', '.'],
    ['_dmarc.Example.COM', '_dmarc.Example.COM.'],
    ['*.example.com', '*.example.com.'],
    ['bücher.example', 'xn--bcher-kva.example.'],
    ['BÜCHER.example.', 'xn--bcher-kva.example.'],
    ['1.2.3', '1.2.3.'],
    [`${'a'.repeat(63)}.b`, `${'a'.repeat(63)}.b.`],
    [`${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a.`],
  ])('makes %s absolute', (text, name) => {
    expect(absoluteName(text)).toBe(name);
  });

  it.each([
    ['an empty name', ''],
    ['two dots in a row', 'a..b'],
    ['a dot at the front', '.example.com'],
    ['a label of 64 octets', `${'a'.repeat(64)}.b`],
    ['254 characters', `${'a.'.repeat(126)}aa`],
    ['a space', 'a b.example'],
    ['a backslash', 'a\\046b.example'],
    ['a control character', 'a\u0000b'],
    ['an IDN label that becomes too long', `${'ä'.repeat(70)}.example`],
    ['an IDN label that IDNA forbids', 'ä\u2028.example'],
  ])('refuses %s', (_what, text) => {
    expect(absoluteName(text)).toBeNull();
  });
});

it('sameName ignores the case of letters', () => {
  expect(sameName('Example.COM.', 'example.com.')).toBe(true);
  expect(sameName('example.com.', 'example.org.')).toBe(false);
});

it('displayName removes the trailing dot', () => {
  expect([displayName('example.com.'), displayName('.')]).toEqual(['example.com', '.']);
});
