import { describe, expect, it, test } from 'vitest';
import { parseStatuses, statusList } from '../../../../../src/model/check/assertions/statuses.ts';
import { CHECK_SHAPES } from '../../../../../src/model/check/check.ts';

describe('a list of statuses', () => {
  test.each([
    ['404', [[404, 404]]],
    [
      '200-299, 404',
      [
        [200, 299],
        [404, 404],
      ],
    ],
    [
      ' 200 , 301 - 302',
      [
        [200, 200],
        [301, 302],
      ],
    ],
  ])('has the ranges of %j', (text, ranges) => {
    expect(parseStatuses(text)).toEqual(ranges);
  });

  test.each(['', '2xx', '20', '2000', '200,', '200 404', '299-200', '200-', '-200', '{{CODE}}'])(
    '%j is none',
    (text) => {
      expect(parseStatuses(text)).toBeNull();
    },
  );

  it('is as short as its ranges allow', () => {
    expect(statusList([200, 201, 202, 404, 410, 411])).toBe('200-202, 404, 410-411');
    expect(statusList([])).toBe('');
  });
});

describe('an assertion ONE_OF', () => {
  const problemsOf = (assertion: object): readonly string[] => {
    const request = { url: 'https://a.test/', assertions: [{ target: '200, 404', ...assertion }] };
    const { error } = CHECK_SHAPES.API.safeParse({ name: 'a', checkType: 'API', request });
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);
  };
  const STATUS = { source: 'STATUS_CODE', comparison: 'ONE_OF' };
  const at = 'request.assertions.0';

  it('takes a list of statuses and ranges', () => {
    expect(problemsOf(STATUS)).toEqual([]);
    expect(problemsOf({ ...STATUS, target: '200-299, 404', regex: null })).toEqual([]);
  });

  it.each([
    [{ target: '2xx' }, `${at}.target must be a list of statuses and ranges, for example`],
    [{ target: '' }, `${at}.target must be a list of statuses`],
    [{ regex: '^.' }, `${at}.regex must be left out: ONE_OF compares the whole status`],
    [{ source: 'RESPONSE_TIME' }, `${at}.comparison must be another one: ONE_OF is for STATUS_C`],
    [{ source: 'JSON_BODY' }, `${at}.comparison must be another one: ONE_OF is for STATUS_CODE`],
  ])('with %j is refused', (fields, problem) => {
    expect(problemsOf({ ...STATUS, ...fields })).toEqual([expect.stringContaining(problem)]);
  });
});
