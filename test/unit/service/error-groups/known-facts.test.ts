import { describe, expect, it } from 'vitest';
import { errorFactsOf } from '../../../../src/model/result/error-group.ts';
import { knownFactsOf, withErrorGroups } from '../../../../src/service/error-groups/known-facts.ts';
import { HTTP_DETAIL, resultOf } from '../../../support/samples/http-results.ts';

describe('the facts of an error', () => {
  const failed = resultOf({
    hasFailures: true,
    apiCheckResult: { ...HTTP_DETAIL, requestError: 'no answer from 192.0.2.1' },
  });

  it('are computed once for the result and for its copy with groups', () => {
    const facts = knownFactsOf(failed);
    expect(facts).toEqual(errorFactsOf(failed));
    expect(facts).not.toBeNull();
    const copy = withErrorGroups(failed, ['a']);
    expect(copy).toEqual({ ...failed, errorGroupIds: ['a'] });
    expect(knownFactsOf(copy)).toBe(facts);
    expect(knownFactsOf(failed)).toBe(facts);
  });

  it('of a copy are computed where the result had none cached', () => {
    const copy = withErrorGroups({ ...failed }, []);
    expect(knownFactsOf(copy)).toEqual(errorFactsOf(failed));
  });

  it('of a result that passed are none', () => {
    expect(knownFactsOf(resultOf())).toBeNull();
  });
});
