import { describe, expect, it } from 'vitest';
import { endpointText, withoutBrackets } from '../../../../src/runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../../../src/runtime/text/duration-text.ts';

describe('words for messages', () => {
  it.each([
    [0.04, '0.0 ms'],
    [9.94, '9.9 ms'],
    [10, '10 ms'],
    [1234.6, '1235 ms'],
  ])('writes %d ms', (durationMs, text) => {
    expect(millisecondsText(durationMs)).toBe(text);
  });

  it.each([
    ['example.test', 'example.test:53'],
    ['192.0.2.1', '192.0.2.1:53'],
    ['fe80::1%eth0', '[fe80::1%eth0]:53'],
  ])('writes an endpoint of %s', (hostname, text) => {
    expect(endpointText(hostname, 53)).toBe(text);
  });

  it.each([
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['example.test', 'example.test'],
  ])('takes the brackets of %s', (hostname, text) => {
    expect(withoutBrackets(hostname)).toBe(text);
  });
});
