import { describe, expect, it } from 'vitest';
import { keyText } from '../../../../../src/web/dashboard/parts/formats.ts';

describe('the text of a key', () => {
  it('has its beginning and its end', () => {
    expect(keyText({ prefix: 'vk_aa10cd', lastFour: '52cc' })).toBe('vk_aa10cd…52cc');
  });

  it('has only the beginning of a key whose end is not stored', () => {
    expect(keyText({ prefix: 'pl_96dbb1', lastFour: null })).toBe('pl_96dbb1…');
  });
});
