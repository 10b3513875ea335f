import { describe, expect, it } from 'vitest';
import { shortAssertion } from '../../../../../src/cli/import/common/assertions.ts';
import { meaningOf, type ProbeType } from '../../../../../src/cli/import/gatus/conditions.ts';

function assertionsOf(condition: string, type: ProbeType = 'HTTP'): readonly object[] | string {
  const meaning = meaningOf(condition, type);
  return meaning.kind === 'assertions' ? meaning.assertions.map(shortAssertion) : meaning.kind;
}

describe('a condition of Gatus', () => {
  it.each([
    ['[RESPONSE_TIME] <= 500', { source: 'RESPONSE_TIME', comparison: 'LESS_THAN', target: '501' }],
    ['[IP] == 192.0.2.1', { source: 'IP_ADDRESS', comparison: 'EQUALS', target: '192.0.2.1' }],
    [
      '[IP] != any(192.0.2.1, ::1)',
      { source: 'IP_ADDRESS', comparison: 'IS_NULL', regex: '^(?:192\\.0\\.2\\.1|::1)$' },
    ],
    [
      '[BODY] != pat(*error*)',
      { source: 'TEXT_BODY', comparison: 'NOT_CONTAINS', target: 'error' },
    ],
    [
      '[BODY] == pat(<h1>*</h1>)',
      { source: 'TEXT_BODY', comparison: 'NOT_NULL', regex: '^<h1>[\\s\\S]*</h1>$' },
    ],
    [
      '[BODY].age > 17',
      { source: 'JSON_BODY', property: '$.age', comparison: 'GREATER_THAN', target: '17' },
    ],
    [
      '[BODY].age >= 18',
      {
        source: 'JSON_SCHEMA',
        property: '$.age',
        comparison: 'EQUALS',
        target: '{"type":"number","minimum":18}',
      },
    ],
    [
      '[BODY].id == any(1, two)',
      {
        source: 'JSON_SCHEMA',
        property: '$.id',
        comparison: 'EQUALS',
        target: '{"enum":["1",1,"two"]}',
      },
    ],
    [
      'has([BODY].errors) == false',
      { source: 'JSON_BODY', property: '$.errors', comparison: 'IS_NULL' },
    ],
    [
      'len([BODY]) == 2',
      {
        source: 'JSON_SCHEMA',
        comparison: 'EQUALS',
        target:
          '{"anyOf":[{"type":"array","minItems":2,"maxItems":2},{"type":"string","minLength":2,"maxLength":2}]}',
      },
    ],
    [
      '[CERTIFICATE_EXPIRATION] > 100h',
      { source: 'CERTIFICATE', property: 'daysRemaining', comparison: 'GREATER_THAN', target: '4' },
    ],
  ])('%s becomes an assertion', (condition, expected) => {
    expect(assertionsOf(condition)).toEqual([expected]);
  });

  it('on the time of an echo is about the average latency', () => {
    expect(assertionsOf('[RESPONSE_TIME] < 20', 'ICMP')).toEqual([
      { source: 'LATENCY', property: 'avg', comparison: 'LESS_THAN', target: '20' },
    ]);
  });

  it('on the status says which are accepted', () => {
    const accepted = (condition: string): readonly number[] => {
      const meaning = meaningOf(condition, 'HTTP');
      if (meaning.kind !== 'status') return [];
      return [200, 204, 301, 404].filter(meaning.accepts);
    };
    expect(accepted('[STATUS] == pat(2*)')).toEqual([200, 204]);
    expect(accepted('[STATUS] != 301')).toEqual([200, 204, 404]);
    expect(accepted('[STATUS] >= 301')).toEqual([301, 404]);
  });

  it.each([
    '[DOMAIN_EXPIRATION] > 720h',
    '[BODY].a == [BODY].b',
    '[BODY].a == $NAME',
    '[BODY].a..b == 1',
    '[CONNECTED] == false',
    '[NEW] == 1',
    'nonsense',
  ])('%s is left out', (condition) => {
    expect(assertionsOf(condition)).toBe('left-out');
  });
});
