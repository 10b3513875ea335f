import { describe, expect, it } from 'vitest';
import { LineIndex } from '../../../../../../src/agent/source/file/document/line-index.ts';

describe('LineIndex', () => {
  it.each([
    ['', 0, 1, 1],
    ['ab', 1, 1, 2],
    ['a\nb', 1, 1, 2],
    ['a\nb', 2, 2, 1],
    ['a\r\nbc\n\nd', 4, 2, 2],
    ['a\r\nbc\n\nd', 6, 3, 1],
    ['a\r\nbc\n\nd', 7, 4, 1],
    ['a\n', 2, 2, 1],
  ])('%j at %i is line %i, column %i', (text, offset, line, column) => {
    expect(new LineIndex(text).positionAt(offset)).toEqual({ line, column });
  });
});
