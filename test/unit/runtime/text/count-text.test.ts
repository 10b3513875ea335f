import { expect, it } from 'vitest';
import { countText } from '../../../../src/runtime/text/count-text.ts';

it.each([
  [0, '0 checks'],
  [1, '1 check'],
  [2, '2 checks'],
])('writes the noun beside %i in the right number', (count, text) => {
  expect(countText(count, 'check')).toBe(text);
});

it('uses a given irregular plural', () => {
  expect(countText(1, 'proxy', 'proxies')).toBe('1 proxy');
  expect(countText(2, 'proxy', 'proxies')).toBe('2 proxies');
});
