import { describe, expect, it } from 'vitest';
import {
  lineInText,
  patternFromGo,
  wholeMatch,
} from '../../../../../src/cli/import/common/patterns.ts';
import { parsePattern } from '../../../../../src/model/check/expressions.ts';

describe('a regular expression of Go', () => {
  it.each([
    ['ok|ready', 'ok|ready'],
    ['(?P<code>2..)', '(?<code>2..)'],
    ['\\Aok\\z', '^ok$'],
    ['(?i)ok\\d[a-f_]', '(?i)ok\\d[a-f_]'],
    ['(?is)(?P<word>a).*b', '(?is)(?<word>a).*b'],
    ['(?m)^a$', '(?m)^a$'],
  ])('%s becomes %s', (go, pattern) => {
    expect(patternFromGo(go)).toBe(pattern);
  });

  it.each([
    '(?U)a+',
    '(?-s)a',
    '(?i:a)b',
    '(?m)\\Aa',
    '[[:alpha:]]',
    '\\Qa\\E',
    '\\pL',
    'a(?i)b',
    '(',
  ])('%s has no translation', (go) => {
    expect(patternFromGo(go)).toBeNull();
  });

  it('with a group that need not match is compared as a whole', () => {
    const whole = wholeMatch('down(ed)?');
    expect(new RegExp(whole).exec('it is down')?.[1]).toBe('down');
    expect(wholeMatch('(?:a|b)')).toBe('(?:a|b)');
    expect(wholeMatch('(?i)down(ed)?')).toBe('(?i)(down(ed)?)');
  });

  it('for one line finds it in a text of several', () => {
    const pattern = new RegExp(lineInText('^250 ok$'));
    expect(pattern.test('220 hello\r\n250 ok\r\n')).toBe(true);
    expect(pattern.test('220 hello\r\n250 okay\r\n')).toBe(false);
    expect(parsePattern(lineInText('(?i)^250 OK$'))).toEqual(
      new RegExp(pattern.source.replace('ok', 'OK'), 'i'),
    );
  });
});
