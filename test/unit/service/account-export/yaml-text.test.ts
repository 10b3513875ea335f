import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fieldText, sectionText } from '../../../../src/service/account-export/yaml-text.ts';

const LONG = 'word '.repeat(30);

describe('a section of an exported file', () => {
  it.each([
    ['one line', 'a b'],
    ['lines', 'one\n  two\n\nthree\n'],
    ['lines that begin with a space', '  one\ntwo'],
    ['empty lines around it', '\n\none\n\n'],
    ['a long line', `${LONG}end`],
    ['long lines', `${LONG}end\n  ${LONG}end\nend\n`],
    ['a line separator', 'one\u2028two\u2029three'],
    ['a line separator at the start', '\u2028one'],
    ['line separators in lines', 'one\u2028two\n\u2029three\nfour\n'],
    ['line separators in long lines', `${LONG}\u2028end\n  one\u2028two\nend\n`],
    ['a line separator in quotes', '# one\u2028two'],
    ['control characters', '\u0001one\u2028two\r\nthree'],
  ])('has the same text after it is read and written again: %s', (_, text) => {
    const entries = [{ id: 'a', text }, { id: 'b' }];
    expect(parse(sectionText('checks', entries))).toEqual({ checks: entries });
  });
});

describe('a field of an exported file', () => {
  it('quotes an id that is a number, as another channel of the service may have the number', () => {
    const text = fieldText('escalationStep', { minutes: 15, alertChannelIds: ['ops', '7'] });
    expect(text).toBe('escalationStep:\n  minutes: 15\n  alertChannelIds:\n    - ops\n    - "7"\n');
  });
});
