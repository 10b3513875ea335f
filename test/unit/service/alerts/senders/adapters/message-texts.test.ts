import { describe, expect, it } from 'vitest';
import {
  fitBytes,
  fitChars,
  fitEscaped,
  fittingMessage,
  markdownEscaped,
} from '../../../../../../src/service/alerts/senders/adapters/message-texts.ts';

describe('a text that is cut for a service', () => {
  it('ends with an ellipsis within the limit, and never in half of a character', () => {
    expect(fitChars('abcdef', 6)).toBe('abcdef');
    expect(fitChars('abcdefg', 6)).toBe('abcde…');
    expect(fitChars('abcd😀xy', 6)).toBe('abcd…');
    expect(fitBytes('ääääää', 12)).toBe('ääääää');
    expect(fitBytes('äääääää', 12)).toBe('ääää…');
    expect(Buffer.byteLength(fitBytes('😀'.repeat(9), 20))).toBeLessThanOrEqual(20);
  });

  it('is not cut within an escape', () => {
    expect(fitEscaped('*****', 10, markdownEscaped)).toBe('\\*\\*\\*\\*\\*');
    expect(fitEscaped('*****', 9, markdownEscaped)).toBe('\\*\\*\\*\\*…');
    expect(fitEscaped('a*b', 3, markdownEscaped)).toBe('a…');
  });
});

describe('a message with too many facts', () => {
  it('leaves out the last ones', () => {
    const rows = [
      ['a', 'x'.repeat(20)],
      ['b', 'y'.repeat(20)],
    ] as const;
    const make = (shown: readonly (readonly [string, string])[]) => ({ shown });
    expect(fittingMessage(rows, 50, make)).toEqual({ shown: [rows[0]] });
    expect(fittingMessage(rows, 5, make)).toEqual({ shown: [] });
  });
});
