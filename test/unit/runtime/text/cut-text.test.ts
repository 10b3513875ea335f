import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from '../../../../src/runtime/text/cut-text.ts';

test('the longest start that fits, between characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, maxBytes) => {
      const cut = cutText(text, maxBytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
      const next = text.codePointAt(cut.length);
      if (next === undefined) return;
      const longer = cut + String.fromCodePoint(next);
      expect(Buffer.byteLength(longer)).toBeGreaterThan(maxBytes);
    }),
  );
});

test('half a character is cut as a whole one', () => {
  expect(cutText('😀', 3)).toBe('');
  expect(cutText('a\ud800b', 4)).toBe('a\ud800');
});
