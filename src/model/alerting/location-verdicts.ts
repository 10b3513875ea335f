import { type Condition, worseOf } from './alert.ts';

/** The last verdict of a location. */
export interface LocationVerdict {
  readonly place: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly condition: Condition;
}

/** The places of a check that run every slot, where there are two or more. */
export interface ParallelLocations {
  readonly places: readonly string[];
  /** How much older than the newest a verdict may be and still count. */
  readonly freshMs: number;
  /** How many percent of the places must fail; null: one is enough. */
  readonly percent: number | null;
}

/**
 * A run's retries (SEMANTICS 1: ten minutes), its last attempt's 30 s and the way here: for so long
 * one place can be behind the others with the same slot.
 */
const SLOWEST_RUN_MS = 660_000;

/**
 * How long a place's verdict counts: over the next slot, and as long as its run may take. So one
 * that has fallen silent holds up no recovery.
 */
export function freshFor(periodMs: number): number {
  return periodMs + SLOWEST_RUN_MS;
}

/**
 * The latest verdicts with one more. Two of the same slot and place are as bad as the worse.
 *
 * Where the places take turns, one whose run took long, with its retries, is behind the others with
 * each of its slots, and would never be heard if whatever is older than the newest were late. So
 * there, too, a run is late only by its own place, or when it is older than any run may be.
 *
 * @param turnLateMs how much older than the newest of other places a run may be where they take
 *   turns; 0 where there is one place
 * @returns null where it comes late and changes nothing: it is older than the latest of its place,
 *   or too old to count; or its place is none of the check's any more
 */
export function withVerdict(
  before: readonly LocationVerdict[],
  verdict: LocationVerdict,
  parallel: ParallelLocations | null,
  turnLateMs: number,
): readonly LocationVerdict[] | null {
  const freshMs = parallel?.freshMs ?? turnLateMs;
  const newestMs = newestOf(before);
  const isOfCheck = (place: string) => parallel === null || parallel.places.includes(place);
  if (!isOfCheck(verdict.place)) return null;
  if (verdict.slotMs < newestMs && verdict.slotMs <= newestMs - freshMs) return null;
  const own = before.filter(({ place }) => place === verdict.place);
  if (own.some(({ slotMs }) => slotMs > verdict.slotMs)) return null;
  const oldestMs = Math.max(newestMs, verdict.slotMs) - freshMs;
  const others = before.filter(
    ({ place, slotMs }) =>
      place !== verdict.place &&
      isOfCheck(place) &&
      (slotMs > oldestMs || slotMs === verdict.slotMs),
  );
  return [...others, mergedWith(own, verdict)];
}

/** Whether another location is ahead, where locations rotate. */
export function isBehind(
  verdicts: readonly LocationVerdict[],
  verdict: LocationVerdict,
  parallel: ParallelLocations | null,
): boolean {
  return parallel === null && verdict.slotMs < newestOf(verdicts);
}

/** -Infinity where there is none. */
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
 * How the check does by what its places said last. Where a percentage is asked for, it is failing
 * when so many fail, and degraded when so many are degraded or fail.
 */
export function conditionOver(
  verdicts: readonly LocationVerdict[],
  parallel: ParallelLocations,
): Condition {
  if (isEnough(placesIn(verdicts, 'failing').length, parallel)) return 'failing';
  return isEnough(placesIn(verdicts, 'degraded').length, parallel) ? 'degraded' : 'passing';
}

/**
 * The condition of the check after a run, by its newest slot. A run of an older one can tell of trouble
 * that nobody knew of, and not of the end of any: what is newer says that it lasts.
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
 * The slot that counts as one more in that condition: the newest of those since `countedMs`, where
 * enough places said so anew. So a slot counts once, in however many places it fails.
 */
export function slotToCount(
  verdicts: readonly LocationVerdict[],
  condition: Condition,
  countedMs: number,
  parallel: ParallelLocations | null,
): number | null {
  const anew = placesIn(verdicts, condition).filter(({ slotMs }) => slotMs > countedMs);
  if (!isEnough(anew.length, parallel)) return null;
  return Math.max(...anew.map(({ slotMs }) => slotMs));
}

/** Those that do as badly as that, or worse. */
function placesIn(
  verdicts: readonly LocationVerdict[],
  condition: Condition,
): readonly LocationVerdict[] {
  return verdicts.filter((one) => worseOf(one.condition, condition) === one.condition);
}

function isEnough(count: number, parallel: ParallelLocations | null): boolean {
  if (parallel === null || parallel.percent === null) return count > 0;
  return count * 100 >= parallel.percent * parallel.places.length;
}
