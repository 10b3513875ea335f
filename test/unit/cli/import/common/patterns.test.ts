import { describe, expect, it } from 'vitest';
import {
  lineInText,
  patternFromGo,
  wholeMatch,
} from '../../../../../src/cli/import/common/patterns.ts';

describe('a regular expression of Go', () => {
  it.each([
    ['ok|ready', 'ok|ready'],
    ['(?P<code>2..)', '(?<code>2..)'],
    ['\\Aok\\z', '^ok$'],
    ['(?i)ok\\d[a-f_]', '[oO][kK]\\d[a-fA-F_]'],
    ['(?i)(?P<word>a)', '(?<word>[aA])'],
  ])('%s becomes %s', (go, pattern) => {
    expect(patternFromGo(go)).toBe(pattern);
  });

  it.each(['(?s)a.b', '(?m)^a', '[[:alpha:]]', '\\Qa\\E', '\\pL', 'a(?i)b', '('])(
    '%s has no translation',
    (go) => {
      expect(patternFromGo(go)).toBeNull();
    },
  );

  it('with a group that need not match is compared as a whole', () => {
    const whole = wholeMatch('down(ed)?');
    expect(new RegExp(whole).exec('it is down')?.[1]).toBe('down');
    expect(wholeMatch('(?:a|b)')).toBe('(?:a|b)');
  });

  it('for one line finds it in a text of several', () => {
    const pattern = new RegExp(lineInText('^250 ok$'));
    expect(pattern.test('220 hello\r\n250 ok\r\n')).toBe(true);
    expect(pattern.test('220 hello\r\n250 okay\r\n')).toBe(false);
  });
});
