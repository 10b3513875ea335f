import { type Condition, worseOf } from './alert.ts';
import { isTooLate } from './verdict-freshness.ts';

/** The last verdict of a location. */
export interface LocationVerdict {
  readonly location: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly condition: Condition;
}

/** The locations of a check that run every slot in parallel, where there are two or more. */
export interface ParallelLocations {
  readonly locations: readonly string[];
  /** How much older than the newest a verdict may be and still count. */
  readonly freshMs: number;
  /** The percentage of locations that must fail; null: one is enough. */
  readonly percent: number | null;
}

/**
 * Adds a verdict to the latest ones. If there are two for the same slot and location, the worse one
 * counts.
 *
 * If locations rotate, a location with long runs (retries) is behind the others with each of its
 * slots, and would never count if every run older than the newest were late. Therefore a run is
 * late only if it is older than the latest run of its own location, or older than any run may be.
 *
 * @param rotationLagMs if locations rotate, how much older than the newest run of other locations a
 *   run may be; 0 if there is one location
 * @returns null if the verdict changes nothing: it is older than the latest of its location, or too
 *   old to count, or the check no longer runs in its location
 */
export function withVerdict(
  before: readonly LocationVerdict[],
  verdict: LocationVerdict,
  parallel: ParallelLocations | null,
  rotationLagMs: number,
): readonly LocationVerdict[] | null {
  const freshMs = parallel?.freshMs ?? rotationLagMs;
  const newestMs = newestOf(before);
  const isOfCheck = (location: string) =>
    parallel === null || parallel.locations.includes(location);
  if (!isOfCheck(verdict.location)) return null;
  if (isTooLate(verdict.slotMs, newestMs, freshMs)) return null;
  const own = before.filter(({ location }) => location === verdict.location);
  if (own.some(({ slotMs }) => slotMs > verdict.slotMs)) return null;
  const oldestMs = Math.max(newestMs, verdict.slotMs) - freshMs;
  const others = before.filter(
    ({ location, slotMs }) =>
      location !== verdict.location &&
      isOfCheck(location) &&
      (slotMs > oldestMs || slotMs === verdict.slotMs),
  );
  return [...others, mergedWith(own, verdict)];
}

/** Whether locations rotate and another one is ahead. */
export function isBehind(
  verdicts: readonly LocationVerdict[],
  verdict: LocationVerdict,
  parallel: ParallelLocations | null,
): boolean {
  return parallel === null && verdict.slotMs < newestOf(verdicts);
}

/** -Infinity if there is none. */
function newestOf(verdicts: readonly LocationVerdict[]): number {
  return Math.max(...verdicts.map(({ slotMs }) => slotMs));
}

function mergedWith(same: readonly LocationVerdict[], verdict: LocationVerdict): LocationVerdict {
  const condition = same
    .filter(({ slotMs }) => slotMs === verdict.slotMs)
    .reduce<Condition>((worst, other) => worseOf(worst, other.condition), verdict.condition);
  return { ...verdict, condition };
}

/**
 * The condition of the check by the last verdicts of its locations. If a percentage is set, the
 * check fails when that share fails, and is degraded when that share is degraded or fails.
 */
export function conditionOver(
  verdicts: readonly LocationVerdict[],
  parallel: ParallelLocations,
): Condition {
  if (isEnough(verdictsIn(verdicts, 'failing').length, parallel)) return 'failing';
  return isEnough(verdictsIn(verdicts, 'degraded').length, parallel) ? 'degraded' : 'passing';
}

/**
 * The condition of the check after a run if locations rotate: that of the newest slot. A run of an
 * older slot can make it worse, never better: the newer runs show whether the problem lasts.
 *
 * @param verdicts including `verdict`
 */
export function conditionAfterRotation(
  before: Condition,
  verdicts: readonly LocationVerdict[],
  verdict: LocationVerdict,
): Condition {
  if (isBehind(verdicts, verdict, null)) return worseOf(before, verdict.condition);
  return verdicts
    .filter(({ slotMs }) => slotMs === verdict.slotMs)
    .reduce<Condition>((worst, { condition }) => worseOf(worst, condition), verdict.condition);
}

/**
 * The slot to count as one more in that condition: the newest since `countedMs`, provided that
 * enough locations reported the condition again. A slot counts once, in however many locations it
 * fails.
 *
 * @returns epoch milliseconds; null if no slot counts
 */
export function slotToCount(
  verdicts: readonly LocationVerdict[],
  condition: Condition,
  countedMs: number,
  parallel: ParallelLocations | null,
): number | null {
  const newer = verdictsIn(verdicts, condition).filter(({ slotMs }) => slotMs > countedMs);
  if (!isEnough(newer.length, parallel)) return null;
  return Math.max(...newer.map(({ slotMs }) => slotMs));
}

/** The verdicts that are this bad or worse. */
function verdictsIn(
  verdicts: readonly LocationVerdict[],
  condition: Condition,
): readonly LocationVerdict[] {
  return verdicts.filter((one) => worseOf(one.condition, condition) === one.condition);
}

function isEnough(count: number, parallel: ParallelLocations | null): boolean {
  if (parallel === null || parallel.percent === null) return count > 0;
  return count * 100 >= parallel.percent * parallel.locations.length;
}
