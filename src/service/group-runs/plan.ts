import type { SkipReason } from './progress.ts';

export interface GroupCheck {
  readonly id: string;
  readonly name: string;
  readonly checkType: string;
  readonly activated: boolean;
  readonly groupOrder: number | null;
  /** Its private locations, in its order. */
  readonly locations: readonly PlanLocation[];
}

export interface PlanLocation {
  readonly id: string;
  readonly slug: string;
  /** A connected agent there can run the check. */
  readonly isLive: boolean;
}

/** A check in one location, or a check that is not run. */
export interface PlannedMember {
  readonly checkId: string;
  readonly name: string;
  readonly groupOrder: number | null;
  readonly location: Omit<PlanLocation, 'isLive'> | null;
  /** null if it is to run. */
  readonly reason: SkipReason | null;
}

/**
 * Plans a run of a group. Each check runs in the requested location; without one, in each of its locations
 * with an agent for it; without such an agent, in its first location. Sorted by order and id.
 *
 * @param requested the slug of a location; null for all
 */
export function planGroupRun(
  checks: readonly GroupCheck[],
  requested: string | null,
): readonly PlannedMember[] {
  return [...checks].sort(byOrder).flatMap((check): readonly PlannedMember[] => {
    const { id: checkId, name, groupOrder } = check;
    const member = { checkId, name, groupOrder };
    const reason = reasonOf(check, requested);
    if (reason !== null) return [{ ...member, location: null, reason }];
    const anyIsLive = check.locations.some(({ isLive }) => isLive);
    const chosen = check.locations.filter(({ slug }) => requested === null || slug === requested);
    return chosen.map(({ id, slug, isLive }, at) => {
      const isRun = requested !== null || (anyIsLive ? isLive : at === 0);
      return { ...member, location: { id, slug }, reason: isRun ? null : 'no_agent' };
    });
  });
}

function reasonOf(check: GroupCheck, requested: string | null): SkipReason | null {
  if (check.checkType === 'HEARTBEAT') return 'heartbeat';
  if (!check.activated) return 'deactivated';
  const { locations } = check;
  const hasLocation = locations.some(({ slug }) => requested === null || slug === requested);
  return hasLocation ? null : 'no_location';
}

function byOrder(one: GroupCheck, other: GroupCheck): number {
  const [a, b] = [one, other].map(({ groupOrder }) => groupOrder ?? Number.POSITIVE_INFINITY);
  if (a !== b && a !== undefined && b !== undefined) return a - b;
  return one.id < other.id ? -1 : 1;
}
