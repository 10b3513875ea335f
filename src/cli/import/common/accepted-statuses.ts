import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { statusList } from '../../../model/check/assertions/statuses.ts';
import { isPassingStatus, MIN_FINAL_STATUS } from '../../../model/result/criterion.ts';
import { assertion } from './assertions.ts';

const MAX_STATUS = 599;

export interface StatusRule {
  readonly assertions: readonly Assertion[];
  readonly shouldFail: boolean;
}

/**
 * Returns assertions that accept these statuses. A check passes on statuses under 400 or, with `shouldFail`, on
 * others (src/model/README.md, "What passes and what fails"). If both are accepted, a ONE_OF assertion replaces this
 * rule.
 *
 * @returns null if no status is accepted
 */
export function statusRuleOf(accepts: (status: number) => boolean): StatusRule | null {
  const all = Array.from(
    { length: MAX_STATUS - MIN_FINAL_STATUS + 1 },
    (_, n) => MIN_FINAL_STATUS + n,
  );
  const accepted = all.filter(accepts);
  const [first] = accepted;
  const last = accepted.at(-1);
  if (first === undefined || last === undefined) return null;
  const passing = accepted.filter(isPassingStatus);
  const shouldFail = passing.length === 0;
  if (!shouldFail && passing.length < accepted.length) {
    return { assertions: [assertion('STATUS_CODE', 'ONE_OF', statusList(accepted))], shouldFail };
  }
  const isEvery = !shouldFail && passing.length === all.filter(isPassingStatus).length;
  return { assertions: isEvery ? [] : assertionsFor(accepted, first, last), shouldFail };
}

function assertionsFor(kept: readonly number[], first: number, last: number): readonly Assertion[] {
  if (first === last) return [assertion('STATUS_CODE', 'EQUALS', String(first))];
  if (kept.length < last - first + 1) {
    return [assertion('STATUS_CODE', 'NOT_NULL', '', { regex: `^(?:${kept.join('|')})$` })];
  }
  const from = assertion('STATUS_CODE', 'GREATER_THAN', String(first - 1));
  const to = assertion('STATUS_CODE', 'LESS_THAN', String(last + 1));
  return [...(first === MIN_FINAL_STATUS ? [] : [from]), ...(last === MAX_STATUS ? [] : [to])];
}
