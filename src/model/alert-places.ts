import { type Condition, worseOf } from './alert.ts';

/** What a place said last. */
export interface PlaceVerdict {
  readonly place: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly condition: Condition;
}

/** The places of a check that run every slot, where there are two or more. */
export interface ParallelPlaces {
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
 * The latest verdicts with one more. Where the places take turns there is one for all of them. Two
 * of the same slot and place are as bad as the worse.
 *
 * @returns null where it comes late and changes nothing: it is older than the latest of its place,
 *   or too old to count; or its place is none of the check's any more
 */
export function withVerdict(
  before: readonly PlaceVerdict[],
  verdict: PlaceVerdict,
  parallel: ParallelPlaces | null,
): readonly PlaceVerdict[] | null {
  const newestMs = Math.max(...before.map(({ slotMs }) => slotMs));
  if (parallel === null) {
    if (verdict.slotMs < newestMs) return null;
    return [mergedWith(before, verdict)];
  }
  if (!parallel.places.includes(verdict.place)) return null;
  if (verdict.slotMs <= newestMs - parallel.freshMs) return null;
  const own = before.filter(({ place }) => place === verdict.place);
  if (own.some(({ slotMs }) => slotMs > verdict.slotMs)) return null;
  const others = before.filter(
    ({ place, slotMs }) =>
      place !== verdict.place &&
      parallel.places.includes(place) &&
      slotMs > verdict.slotMs - parallel.freshMs,
  );
  return [...others, mergedWith(own, verdict)];
}

function mergedWith(same: readonly PlaceVerdict[], verdict: PlaceVerdict): PlaceVerdict {
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
  verdicts: readonly PlaceVerdict[],
  parallel: ParallelPlaces | null,
): Condition {
  if (isEnough(placesIn(verdicts, 'failing').length, parallel)) return 'failing';
  return isEnough(placesIn(verdicts, 'degraded').length, parallel) ? 'degraded' : 'passing';
}

/**
 * The slot that counts as one more in that condition: the newest of those since `countedMs`, where
 * enough places said so anew. So a slot counts once, in however many places it fails.
 */
export function slotToCount(
  verdicts: readonly PlaceVerdict[],
  condition: Condition,
  countedMs: number,
  parallel: ParallelPlaces | null,
): number | null {
  const anew = placesIn(verdicts, condition).filter(({ slotMs }) => slotMs > countedMs);
  if (!isEnough(anew.length, parallel)) return null;
  return Math.max(...anew.map(({ slotMs }) => slotMs));
}

/** Those that do as badly as that, or worse. */
function placesIn(
  verdicts: readonly PlaceVerdict[],
  condition: Condition,
): readonly PlaceVerdict[] {
  return verdicts.filter((one) => worseOf(one.condition, condition) === one.condition);
}

function isEnough(count: number, parallel: ParallelPlaces | null): boolean {
  if (parallel === null || parallel.percent === null) return count > 0;
  return count * 100 >= parallel.percent * parallel.places.length;
}
