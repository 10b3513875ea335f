import { expect, it } from 'vitest';
import { LineSplitter } from '../../../src/cli/line-splitter.ts';

function linesOf(maxBytes: number, ...chunks: readonly Buffer[]): readonly string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return lines;
}

it('puts lines together however the chunks are cut, also within a character', () => {
  const bytes = Buffer.from('one\ntwö – three\n\nfour');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const lines = linesOf(100, bytes.subarray(0, cut), bytes.subarray(cut));
    expect(lines).toEqual(['one', 'twö – three', 'four']);
  }
});

it('skips a line that is too long, and continues with the next', () => {
  const long = Buffer.from('x'.repeat(8));
  expect(linesOf(10, long, long, Buffer.from('\nshort\n1234567890\n'))).toEqual([
    'short',
    '1234567890',
  ]);
});
