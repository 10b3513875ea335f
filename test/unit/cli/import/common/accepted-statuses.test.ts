import { describe, expect, it } from 'vitest';
import { statusRuleOf } from '../../../../../src/cli/import/common/accepted-statuses.ts';
import { shortAssertion } from '../../../../../src/cli/import/common/assertions.ts';

function ruleOf(...accepted: readonly number[]) {
  const rule = statusRuleOf((status) => accepted.includes(status));
  return rule === null ? null : { ...rule, assertions: rule.assertions.map(shortAssertion) };
}

const status = (comparison: string, rest: object) => ({
  source: 'STATUS_CODE',
  comparison,
  ...rest,
});

describe('accepted statuses', () => {
  it('under 400 are asserted', () => {
    expect(ruleOf(204)?.assertions).toEqual([status('EQUALS', { target: '204' })]);
    expect(ruleOf(301, 302)?.assertions).toEqual([
      status('GREATER_THAN', { target: '300' }),
      status('LESS_THAN', { target: '303' }),
    ]);
    expect(ruleOf(200, 301)?.assertions).toEqual([status('NOT_NULL', { regex: '^(?:200|301)$' })]);
  });

  it('need no assertion if they are all of those under 400', () => {
    expect(statusRuleOf((code) => code < 400)).toEqual({
      assertions: [],
      shouldFail: false,
    });
  });

  it('of 400 and more invert the check', () => {
    expect(ruleOf(401)).toEqual({
      assertions: [status('EQUALS', { target: '401' })],
      shouldFail: true,
    });
  });

  it('on both sides of 400 become a list that decides', () => {
    expect(ruleOf(200, 201, 429)).toEqual({
      assertions: [status('ONE_OF', { target: '200-201, 429' })],
      shouldFail: false,
    });
    expect(statusRuleOf(() => true)?.assertions.map(shortAssertion)).toEqual([
      status('ONE_OF', { target: '200-599' }),
    ]);
  });

  it('have no rule if there are none', () => {
    expect(ruleOf()).toBeNull();
  });
});
