import type { RunResult } from '../../model/result/run-result.ts';
import { groupBy } from '../../runtime/group-by.ts';

/**
 * A check of a group run, in one location:
 * - `pending`: its run is not requested yet
 * - `started`: its run is requested
 * - `done`, `expired`, `cancelled`: the end of its run; a pending check of a cancelled group run is also
 *   `cancelled`
 * - `skipped`: it is not run
 */
export const MEMBER_STATES = [
  'pending',
  'started',
  'done',
  'expired',
  'cancelled',
  'skipped',
] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

/**
 * - `deactivated`: the check is not activated
 * - `heartbeat`: it waits for pings, and has no runs
 * - `no_location`: it has no private location, or not the requested one, or its location was deleted
 * - `no_agent`: no connected agent of the location can run it, while an agent of another location can
 * - `check_deleted`: it was deleted before its run was requested
 */
export const SKIP_REASONS = [
  'deactivated',
  'heartbeat',
  'no_location',
  'no_agent',
  'check_deleted',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/**
 * - `failed`: a run failed
 * - `incomplete`: none failed, but one has no verdict: it expired, was cancelled or ended by a fault of its
 *   agent
 * - `degraded`: all passed, one of them degraded
 * - `passed`: all passed
 */
export const GROUP_VERDICTS = ['passed', 'degraded', 'failed', 'incomplete'] as const;
export type GroupVerdict = (typeof GROUP_VERDICTS)[number];

/** The facts about a member that decide which members start next. */
export type Member = {
  readonly groupOrder: number | null;
  /** A slug; null if the check is not run. */
  readonly location: string | null;
  readonly state: MemberState;
};

/**
 * Returns the pending members to start now. Each location runs the group independently: members of the same
 * order run concurrently, up to `concurrency`; members of the next order start after all of these have ended.
 * Members without an order come last.
 *
 * @param members the members of one location, in the order in which they start within one `groupOrder`
 */
export function nextMembers<M extends Member>(
  members: readonly M[],
  concurrency: number,
): readonly M[] {
  const open = members.filter(({ state }) => state === 'pending' || state === 'started');
  return [...groupBy(open, ({ location }) => location).values()].flatMap((here) => {
    const step = Math.min(...here.map(orderOf));
    const current = here.filter((member) => orderOf(member) === step);
    const pending = current.filter(({ state }) => state === 'pending');
    const running = current.length - pending.length;
    return pending.slice(0, Math.max(0, concurrency - running));
  });
}

export function haveEnded(members: readonly Pick<Member, 'state'>[]): boolean {
  return !members.some(({ state }) => state === 'pending' || state === 'started');
}

/** @param members the members that have ended; skipped ones do not count */
export function groupVerdictOf(
  members: readonly { readonly state: MemberState; readonly verdict: RunResult | null }[],
): GroupVerdict {
  const verdicts = members.flatMap(({ state, verdict }) => (state === 'skipped' ? [] : [verdict]));
  if (verdicts.includes('failed')) return 'failed';
  const isJudged = (verdict: RunResult | null): boolean =>
    verdict === 'passed' || verdict === 'degraded';
  // There is no verdict if all checks were deleted in the meantime.
  if (verdicts.length === 0 || !verdicts.every(isJudged)) return 'incomplete';
  return verdicts.includes('degraded') ? 'degraded' : 'passed';
}

function orderOf({ groupOrder }: Member): number {
  return groupOrder ?? Number.POSITIVE_INFINITY;
}
