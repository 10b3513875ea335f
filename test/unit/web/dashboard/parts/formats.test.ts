import { describe, expect, it } from 'vitest';
import { keyText, percent } from '../../../../../src/web/dashboard/parts/formats.ts';

describe('the text of a key', () => {
  it('has its beginning and its end', () => {
    expect(keyText({ prefix: 'vk_aa10cd', lastFour: '52cc' })).toBe('vk_aa10cd…52cc');
  });

  it('has only the beginning of a key whose end is not stored', () => {
    expect(keyText({ prefix: 'pl_96dbb1', lastFour: null })).toBe('pl_96dbb1…');
  });
});

describe('a percentage', () => {
  it.each([
    [57, 100, '57 %'],
    [69, 100, '69 %'],
    [112, 125, '89.6 %'],
    [2, 3, '66.66 %'],
    [999_999, 1_000_000, '99.99 %'],
    [1_000_000, 1_000_000, '100 %'],
    [0, 7, '0 %'],
  ])('of %i of %i is %s', (part, whole, text) => {
    expect(percent(part, whole)).toBe(text);
  });
});
