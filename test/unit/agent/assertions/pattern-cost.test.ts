import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patternSteps } from '../../../../src/agent/assertions/pattern-cost.ts';
import { caseCount } from '../../../support/nightly.ts';

const CHEAP = 5_000_000;

describe('patterns that may blow up are never called cheap', () => {
  const text = `${'a'.repeat(3000)}b`;
  test.each([
    '^(a+)+$',
    '(.*a){25}',
    '(a|a)*b',
    '(a|aa)+$',
    '^(?:a*)*$',
    '([a-z]+)*1',
    '(a?){50}a{50}',
    '(x+x+)+y',
    'a*a*a*b',
    '.*.*=.*',
    '(a{1,50}){1,50}b',
    'a?'.repeat(40) + 'a'.repeat(40),
    `${'(a|a)'.repeat(40)}b`,
    '(?=(a+))\\1b',
    '(a+)\\1',
    '(?<n>a+)\\k<n>',
    '(?!a*b)a',
    '(?<=a*)b',
    'a{1000}a{1000}a{1000}',
    'a*b',
    '\\u{1F600}',
    '(?i:a)b',
    '(?i)a*b',
    '(?m)^a*a*b',
    '(?i)(a+)+$',
    'a{2',
    '((((a+)?)?)?){9}',
  ])('%s', (pattern) => {
    expect(patternSteps(pattern, text)).toBeGreaterThan(CHEAP);
  });
});

describe('ordinary patterns are cheap', () => {
  const page = `<html><title>Welcome</title>${'<p>lorem ipsum</p>'.repeat(3000)} version: 1.2.3`;
  test.each([
    'version: (\\d+)\\.\\d{1,3}',
    '<title>(.*?)</title>',
    '"status":"(\\w+)"',
    '^<html>',
    'Welcome',
    '(?i)welcome',
    '(?s)<title>(.*?)</title>',
    'lorem (ipsum|dolor)$',
    'id=[^&]{1,32}',
  ])('%s on a page of 50 KB', (pattern) => {
    expect(patternSteps(pattern, page)).toBeLessThan(CHEAP);
  });

  test.each([
    '\\d+',
    '(\\w+)=(\\d{1,3})',
    '[^:]+: ok',
    '(?<major>\\d+)\\.\\d{1,3}',
    'v?1(?:\\.2)?',
  ])('%s on a short answer', (pattern) => {
    expect(patternSteps(pattern, 'uptime=12 load: ok v1.2')).toBeLessThan(CHEAP);
  });
});

test('many starts of the same text are counted', () => {
  expect(patternSteps('aa.*b', 'a'.repeat(20_000))).toBeGreaterThan(CHEAP);
  expect(patternSteps('aa.*b', `aa${'x'.repeat(20_000)}`)).toBeLessThan(CHEAP);
});

test('any text can be read as a pattern without an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab.*+?(){}[]|\\^$1,:<>=!') }), (pattern) => {
      expect(patternSteps(pattern, 'aaa')).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: caseCount(2000) },
  );
});
