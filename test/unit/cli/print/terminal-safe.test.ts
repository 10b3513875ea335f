import { describe, expect, it } from 'vitest';
import { terminalSafe } from '../../../../src/cli/print/terminal-safe.ts';

describe('terminalSafe', () => {
  it.each([
    ['plain text, ümläute, 日本語, 🙂', 'plain text, ümläute, 日本語, 🙂'],
    ['\u001b[2J\u001b]0;title\u0007', '\\u{1b}[2J\\u{1b}]0;title\\u{7}'],
    ['\u009b31mred', '\\u{9b}31mred'],
    ['one\ntwo\r\u0000\t\u007f', 'one\\ntwo\\u{d}\\u{0}\\u{9}\\u{7f}'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['\ud800 alone', '\\u{d800} alone'],
  ])('%j', (text, printed) => {
    expect(terminalSafe(text)).toBe(printed);
  });

  it('cuts what is long', () => {
    expect(terminalSafe('x'.repeat(1_000_000), 5)).toBe('xxxxx…');
  });
});
