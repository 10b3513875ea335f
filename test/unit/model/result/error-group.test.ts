import { describe, expect, it } from 'vitest';
import {
  archiveAfter,
  checkErrorGroupId,
  type ErrorGroupArchive,
  type ErrorGroupChanges,
  errorFactsOf,
  testSessionErrorGroupId,
} from '../../../../src/model/result/error-group.ts';
import {
  errorHashOf,
  MAX_ERROR_MESSAGE_CHARS,
} from '../../../../src/model/result/error-grouping.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import { resultFor } from '../../../support/samples/results.ts';

function failing(requestError: string, fields: Partial<CheckResult> = {}): CheckResult {
  const apiCheckResult = { ...HTTP_DETAIL, response: null, requestError };
  return resultFor({ hasFailures: true, apiCheckResult, ...fields });
}

function groupOf(accountId: string, result: CheckResult): string | null {
  const facts = errorFactsOf(result);
  return facts === null ? null : checkErrorGroupId(accountId, result.checkId, facts.errorHash);
}

describe('the error group of a result', () => {
  it('depends on its check and its cleaned message', () => {
    const id = groupOf('mine', failing('a.test:443 refused after 3 ms'));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8/);
    expect(groupOf('mine', failing('a.test:443 refused after 81.5 ms'))).toBe(id);
    const others = [
      groupOf('theirs', failing('a.test:443 refused after 3 ms')),
      groupOf('mine', failing('a.test:443 refused after 3 ms', { checkId: 'other' })),
      groupOf('mine', failing('b.test:443 refused after 3 ms')),
    ];
    expect(new Set([id, ...others]).size).toBe(4);
  });

  it('is null if the target did not cause the failure', () => {
    for (const fields of [
      { hasFailures: false },
      { isCancelled: true },
      { hasErrors: true },
    ] as const) {
      expect(groupOf('mine', failing('gone', fields))).toBeNull();
    }
  });

  it('has the original message, truncated, and exists also without a message', () => {
    const long = errorFactsOf(failing('x'.repeat(20_000)));
    expect(long?.rawErrorMessage).toHaveLength(MAX_ERROR_MESSAGE_CHARS);
    const silent = errorFactsOf(resultFor({ hasFailures: true }));
    expect(silent).toEqual({
      rawErrorMessage: null,
      cleanedErrorMessage: 'The run failed without a message',
      errorHash: errorHashOf('The run failed without a message'),
    });
    expect(errorFactsOf(resultFor())).toBeNull();
  });

  it('is different for each project of test sessions', () => {
    const ids = [null, 'shop', 'blog'].map((project) => testSessionErrorGroupId('a', project, 'h'));
    expect(new Set([...ids, testSessionErrorGroupId('b', 'shop', 'h')]).size).toBe(4);
  });
});

describe('archiving an error group', () => {
  const FOREVER = { archiveForEver: true };
  const NOT_FOREVER = { archiveForEver: false };
  const UNTIL = { archivedUntilNextEvent: true };
  const BACK = { archivedUntilNextEvent: false };

  it.each<[ErrorGroupArchive, ErrorGroupChanges, ErrorGroupArchive]>([
    ['none', {}, 'none'],
    ['none', UNTIL, 'until-next-event'],
    ['none', BACK, 'none'],
    ['none', FOREVER, 'for-ever'],
    ['none', NOT_FOREVER, 'none'],
    ['none', { ...FOREVER, ...BACK }, 'for-ever'],
    ['until-next-event', {}, 'until-next-event'],
    ['until-next-event', BACK, 'none'],
    ['until-next-event', FOREVER, 'for-ever'],
    ['until-next-event', NOT_FOREVER, 'until-next-event'],
    ['for-ever', {}, 'for-ever'],
    ['for-ever', UNTIL, 'for-ever'],
    ['for-ever', BACK, 'none'],
    ['for-ever', NOT_FOREVER, 'none'],
    ['for-ever', { ...NOT_FOREVER, ...UNTIL }, 'until-next-event'],
  ])('%s with %j leads to %s', (before, changes, after) => {
    expect(archiveAfter(before, changes)).toBe(after);
  });
});
