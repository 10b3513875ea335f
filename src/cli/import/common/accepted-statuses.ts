import type { Assertion } from '../../../model/check/assertion.ts';
import { isPassingStatus, MIN_FINAL_STATUS } from '../../../model/result/criterion.ts';
import { assertion } from './assertions.ts';
import type { Reason } from './fields.ts';

const MAX_STATUS = 599;

/** Why a rule is narrower: no setting of a check accepts statuses on both sides of 400. */
export const ONE_SIDE_OF_400: Reason = [
  'one check cannot accept statuses under 400 and others of 400 or more: only those under 400 pass',
  'check a path of the target whose accepted statuses are all under 400, or all 400 or more',
];

export interface StatusRule {
  readonly assertions: readonly Assertion[];
  readonly shouldFail: boolean;
  /** Whether statuses of 400 or more that should pass will fail: no check accepts both. */
  readonly isNarrower: boolean;
}

/**
 * Returns assertions that accept these statuses. A check passes only on statuses under 400 or, with `shouldFail`,
 * only on others (src/model/README.md, "What passes and what fails"). If both are accepted, the rule accepts only
 * those under 400.
 *
 * @returns null if no status is accepted
 */
export function statusRuleOf(accepts: (status: number) => boolean): StatusRule | null {
  const all = Array.from(
    { length: MAX_STATUS - MIN_FINAL_STATUS + 1 },
    (_, n) => MIN_FINAL_STATUS + n,
  );
  const accepted = all.filter(accepts);
  const passing = accepted.filter(isPassingStatus);
  const shouldFail = passing.length === 0;
  const kept = shouldFail ? accepted : passing;
  const [first] = kept;
  const last = kept.at(-1);
  if (first === undefined || last === undefined) return null;
  const isNarrower = kept.length < accepted.length;
  const isEvery = !shouldFail && kept.length === all.filter(isPassingStatus).length;
  return { assertions: isEvery ? [] : assertionsFor(kept, first, last), shouldFail, isNarrower };
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
